#!/bin/sh
# Builds the Python package in a fresh environment under the repository's root, and runs its tests.
#
# PYTHON               the interpreter, python3 where nothing is said
# TRUETAIL_PROFILE     the cargo profile: dev where nothing is said, because `cargo test` has built most of it already
set -eu

cd "$(dirname "$0")"
venv="$(cd ../.. && pwd)/.venv/python-package"
rm -rf "$venv"
"${PYTHON:-python3}" -m venv "$venv"
PATH="$venv/bin:$PATH"
export VIRTUAL_ENV="$venv" PATH

python -m pip install --quiet --disable-pip-version-check -r requirements-test.txt
wheels="$(mktemp -d)"
trap 'rm -rf "$wheels"' EXIT
maturin build --quiet --locked --profile "${TRUETAIL_PROFILE:-dev}" --interpreter python --out "$wheels"
python -m pip install --quiet --disable-pip-version-check --no-deps "$wheels"/*.whl
python -m pytest -q "$@"
