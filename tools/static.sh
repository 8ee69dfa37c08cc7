#!/usr/bin/env bash
# The static binary of the image: target/TRIPLE/release/truetail. Static glibc, see docs/kubernetes.md.
set -euo pipefail
cd "$(dirname "$0")/.."
triple=$(rustc -vV | sed -n 's/^host: //p')
RUSTFLAGS="${RUSTFLAGS:-} -C target-feature=+crt-static" \
    "${CARGO:-cargo}" build --release --locked -p truetail --target "$triple"
