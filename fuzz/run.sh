#!/usr/bin/env bash
# Fuzzes the parsers of the tools' outputs: fuzz/run.sh [TOOL …], without names all of them, FUZZ_SECONDS each (600).
# Inputs that a run found worth keeping stay in fuzz/corpus, those that broke something in fuzz/artifacts.
#
# libFuzzer without a sanitizer: the parsers have no unsafe code, and so the stable compiler will do.
set -euo pipefail

export RUSTC_BOOTSTRAP=1
cd "$(dirname "${BASH_SOURCE[0]}")"
readonly seconds="${FUZZ_SECONDS:-600}"
# One line a parser; of two tools with one parser, such as the two ways of using k6, one.
readonly every=(
    ab
    autocannon
    gatling
    h2load
    hey
    hyperfoil
    jmeter-precise-throughput
    k6-constant-arrival-rate
    locust
    oha
    vegeta
    wrk
    wrk2
)

if ! cargo fuzz --version >/dev/null 2>&1; then
    cargo install --quiet --locked cargo-fuzz
fi
tools=("$@")
if [[ $# == 0 ]]; then tools=("${every[@]}"); fi
cargo build --quiet --release --bin seeds
cargo fuzz build --sanitizer none parse
for tool in "${tools[@]}"; do
    "${CARGO_TARGET_DIR:-target}/release/seeds" "$tool" "corpus/$tool"
    mkdir -p "artifacts/$tool"
    TRUETAIL_FUZZ_TOOL="$tool" cargo fuzz run --sanitizer none parse "corpus/$tool" -- \
        "-max_total_time=$seconds" -timeout=10 -rss_limit_mb=2048 "-artifact_prefix=artifacts/$tool/" -print_final_stats=1
done
