#!/usr/bin/env bash
# Fuzzes everything that truetail reads: fuzz/run.sh [NAME …]. Without names it fuzzes all targets, FUZZ_SECONDS each (600). A
# name is one of our targets, a load tool, for the parser of its output, or import-FORMAT.
# Interesting inputs stay in fuzz/corpus, inputs that broke something in fuzz/artifacts.
#
# libFuzzer runs without a sanitizer: the parsers have no unsafe code, and this way the stable compiler suffices.
set -euo pipefail

export RUSTC_BOOTSTRAP=1
cd "$(dirname "${BASH_SOURCE[0]}")"
readonly seconds="${FUZZ_SECONDS:-600}"
readonly targets=(flow http2 messages exchange schema event_stream model_answer response requests run_folder scenario scrape spans timing ways)
if ! cargo fuzz --version >/dev/null 2>&1; then
    cargo install --quiet --locked cargo-fuzz
fi
cargo build --quiet --release --bin seeds
readonly seeds="${CARGO_TARGET_DIR:-target}/release/seeds"
names=("$@")
# shellcheck disable=SC2207
if [[ $# == 0 ]]; then names=("${targets[@]}" $("$seeds" --tools) $("$seeds" --formats)); fi
for name in "${names[@]}"; do
    target=parse
    if [[ " ${targets[*]} " == *" $name "* ]]; then target="$name"; fi
    if [[ "$name" == import-* ]]; then target=import; fi
    "$seeds" "$name" "corpus/$name"
    mkdir -p "artifacts/$name"
    TRUETAIL_FUZZ_TOOL="$name" TRUETAIL_FUZZ_FORMAT="${name#import-}" cargo fuzz run --sanitizer none "$target" "corpus/$name" -- \
        "-max_total_time=$seconds" -timeout=10 -rss_limit_mb=2048 "-artifact_prefix=artifacts/$name/" -print_final_stats=1
done
