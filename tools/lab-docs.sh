#!/usr/bin/env bash
# Writes the laboratory's pages from its results: tools/lab-docs.sh RESULTS DOCS
#
# RESULTS is the --out folder of `truetail lab run`, DOCS the folder of the pages, such as docs/lab. Each scenario of full
# length gets a folder with its page (README.md), the table as CSV and JSON, and the pictures. What stands about it in
# tools/lab-notes is written by hand, and comes at the end of the page. Paths in it are those of the page.
set -euo pipefail

readonly results="${1:?RESULTS, the --out of truetail lab run}" docs="${2:?DOCS, such as docs/lab}"
readonly notes="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/lab-notes"
# Scenarios, with a folder of the page if it has another name.
readonly scenarios=(01-healthy 02-single-hiccup 03-sustained-slowdown 04-gc-pauses 05-saturation 06-model-that-stalls
    02-single-hiccup-grpc=08-grpc/single-hiccup 04-gc-pauses-grpc=08-grpc/gc-pauses)

for entry in "${scenarios[@]}"; do
    scenario="${entry%%=*}"
    from="$results/$scenario" to="$docs/${entry##*=}"
    if [[ ! -e "$from/league.md" ]]; then
        echo "$scenario: nothing in $from; run: truetail lab run $scenario --out $results" >&2
        continue
    fi
    mkdir -p "$to"
    cp "$from/league.md" "$to/README.md"
    cp "$from/league.csv" "$from/league.json" "$from"/*.svg "$from"/*.png "$to/"
    if [[ -e "$notes/$scenario.md" ]]; then
        printf '\n' | cat - "$notes/$scenario.md" >>"$to/README.md"
    fi
    echo "$scenario: $to/README.md"
done
