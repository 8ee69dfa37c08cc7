# truetail in an image with nothing else in it but certificates: docker build -t truetail .
# Why glibc and not musl: docs/kubernetes.md.
FROM rust:1-slim-trixie AS build
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates
WORKDIR /src
COPY . .
RUN tools/static.sh && cp target/release/truetail-static /truetail

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /truetail /truetail
USER 65532:65532
ENTRYPOINT ["/truetail"]
