#!/bin/sh
# Builds the Python package in a fresh environment under the repository's root and runs its tests. Without a recent enough
# interpreter, the venv module or a registry it prints SKIPPED, which is no failure unless TRUETAIL_STRICT=1. Once the
# environment exists, everything else is.
#
# PYTHON               the interpreter, 3.11 or later; default python3
# TRUETAIL_PROFILE     the cargo profile: default dev, because `cargo test` has built most of it already
set -eu

cd "$(dirname "$0")"
venv="$(cd ../.. && pwd)/.venv/python-package"
python="${PYTHON:-python3}"

skip() {
    echo "SKIPPED: the tests of the Python package: $1"
    [ "${TRUETAIL_STRICT:-}" != 1 ] || exit 1
    exit 0
}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || skip "$python is no Python 3.11 or later"
rm -rf "$venv"
"$python" -m venv "$venv" || skip "no environment can be made: $python -m venv failed (on Debian: apt-get install python3-venv)"
PATH="$venv/bin:$PATH"
export VIRTUAL_ENV="$venv" PATH

python -m pip install --quiet --disable-pip-version-check -r requirements-test.txt ||
    skip "what requirements-test.txt names could not be installed"
wheels="$(mktemp -d)"
trap 'rm -rf "$wheels"' EXIT
maturin build --quiet --locked --profile "${TRUETAIL_PROFILE:-dev}" --interpreter python --out "$wheels"
python -m pip install --quiet --disable-pip-version-check --no-deps "$wheels"/*.whl
python -m pytest -q "$@"
