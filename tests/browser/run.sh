#!/usr/bin/env bash
# Tests truetail's pages in Chromium: tests/browser/run.sh [ARGUMENT OF node --test …]. Without Chromium, Node.js or the packages
# from npm it says SKIPPED, and fails if TRUETAIL_STRICT=1. TRUETAIL_SCREENSHOTS=DIR also writes the pictures of the README.
set -euo pipefail
readonly from="$PWD"
cd "$(dirname "$0")"

# missing WHAT INSTALL
missing() {
    if [[ "${TRUETAIL_STRICT:-}" == 1 ]]; then
        echo "$1 is missing, and TRUETAIL_STRICT=1 allows no SKIPPED; to install it: $2" >&2
        exit 1
    fi
    echo "SKIPPED: the tests of pages in a browser: $1 is missing; to install it: $2" >&2
    exit 0
}

if [[ -n "${TRUETAIL_SCREENSHOTS:-}" ]]; then
    TRUETAIL_SCREENSHOTS="$(cd "$from" && mkdir -p "$TRUETAIL_SCREENSHOTS" && cd "$TRUETAIL_SCREENSHOTS" && pwd)"
    export TRUETAIL_SCREENSHOTS
fi
export TRUETAIL_CHROMIUM="${TRUETAIL_CHROMIUM:-$(type -P chromium || type -P chromium-browser || true)}"
[[ -n "$TRUETAIL_CHROMIUM" ]] || missing Chromium "tools/install.sh chromium"
type -P node npm >/dev/null || missing Node.js "tools/install.sh node"
if ! cmp -s package-lock.json node_modules/.installed; then
    npm ci --silent --no-audit --no-fund || missing "a package of tests/browser/package.json" "cd tests/browser && npm ci"
    cp package-lock.json node_modules/.installed
fi
cargo build --quiet --locked -p truetail
export TRUETAIL="${CARGO_TARGET_DIR:-$(cd ../.. && pwd)/target}/debug/truetail"
exec node --test --test-concurrency=1 "${@:-.}"
