#!/usr/bin/env bash
# Fuzzes what truetail reads that others wrote: fuzz/run.sh [NAME …], without names all of it, FUZZ_SECONDS each (600). A name
# is one of our targets, or a tool, for the parser of its outputs.
# Inputs that a run found worth keeping stay in fuzz/corpus, those that broke something in fuzz/artifacts.
#
# libFuzzer without a sanitizer: the parsers have no unsafe code, and so the stable compiler will do.
set -euo pipefail

export RUSTC_BOOTSTRAP=1
cd "$(dirname "${BASH_SOURCE[0]}")"
readonly seconds="${FUZZ_SECONDS:-600}"
readonly targets=(http2 response requests run_folder scenario)
# One line a parser; of two tools with one parser, such as the two ways of using k6, one.
readonly tools=(
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
names=("$@")
if [[ $# == 0 ]]; then names=("${targets[@]}" "${tools[@]}"); fi
cargo build --quiet --release --bin seeds
for name in "${names[@]}"; do
    target=parse
    if [[ " ${targets[*]} " == *" $name "* ]]; then target="$name"; fi
    "${CARGO_TARGET_DIR:-target}/release/seeds" "$name" "corpus/$name"
    mkdir -p "artifacts/$name"
    TRUETAIL_FUZZ_TOOL="$name" cargo fuzz run --sanitizer none "$target" "corpus/$name" -- \
        "-max_total_time=$seconds" -timeout=10 -rss_limit_mb=2048 "-artifact_prefix=artifacts/$name/" -print_final_stats=1
done
