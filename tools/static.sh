#!/usr/bin/env bash
# The static binary of the image, as target/release/truetail-static. Only the last step of the build, linking, differs from that of
# target/release/truetail: glibc in the binary, see docs/kubernetes.md, and no symbols. --debug links the debug build.
set -euo pipefail
cd "$(dirname "$0")/.."
profile=release
[ "${1:-}" != --debug ] || profile=debug
words=(--locked -p truetail --bin truetail)
[ $profile = debug ] || words+=(--release)
out=${CARGO_TARGET_DIR:-target}/$profile
"${CARGO:-cargo}" rustc "${words[@]}" -- -C target-feature=+crt-static -C strip=symbols
mv "$out/truetail" "$out/truetail-static"
