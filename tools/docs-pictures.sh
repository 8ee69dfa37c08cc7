#!/usr/bin/env bash
# Draws the pictures of the documents: tools/docs-pictures.sh TRUETAIL docs/img
#
# The simulator gives the same bytes each time. The screenshots beside them are those of tests/browser.
set -euo pipefail

readonly truetail="${1:?TRUETAIL, the program}" images="${2:?IMAGES, such as docs/img}"
results="$(mktemp -d)"
trap 'rm -rf "$results"' EXIT

for lab in freeze every-nth order-router; do
    "$truetail" simulate "$lab" --out "$results/$lab" > "$results/$lab.txt"
done

cp "$results/freeze/p99-comparison.svg" "$images/freeze-p99.svg"
cp "$results/freeze/throughput.svg" "$images/freeze-throughput.svg"
cp "$results/every-nth/percentiles.svg" "$images/every-nth.svg"
cp "$results/order-router/percentiles.svg" "$images/order-router.svg"
echo "drawn: the pictures of freeze, every-nth and order-router in $images"
