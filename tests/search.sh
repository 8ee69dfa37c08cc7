#!/usr/bin/env bash
# search.sh SECONDS   the property tests of all crates with a fresh seed in each round, in a network namespace of their own if
# there may be one, until SECONDS are over or a test fails. PROPTEST_RNG_SEED is the seed of the first round.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=$1
cargo=${CARGO:-cargo}

# Files of Rust that hold property tests, as the crates that they are in.
packages=$(grep -rl --include='*.rs' 'proptest! *{' crates | cut -d/ -f2 | sort -u \
    | sed -e 's/^cli$/truetail/' -e '/^truetail$/!s/^/truetail-/')
arguments=()
for package in $packages; do arguments+=(--package "$package"); done
"$cargo" test --locked --no-run "${arguments[@]}"

isolated=()
if unshare --net true 2> /dev/null; then isolated=(unshare --net sh -c 'ip link set lo up 2> /dev/null; exec "$@"' sh); fi

rounds=0
while [ "$SECONDS" -lt "$seconds" ] || [ "$rounds" = 0 ]; do
    seed=${PROPTEST_RNG_SEED:-$(od -An -N8 -tu8 /dev/urandom | tr -d ' ')}
    echo "search: round $((rounds + 1)), seed $seed"
    if ! PROPTEST_RNG_SEED=$seed "${isolated[@]}" "$cargo" test --locked --offline --no-fail-fast "${arguments[@]}" > target/search.log 2>&1; then
        grep -E '^test .* FAILED|panicked at|minimal failing input' target/search.log || tail -n 40 target/search.log
        echo "search: seed $seed fails; PROPTEST_RNG_SEED=$seed make search repeats it; all of its output is in target/search.log"
        exit 1
    fi
    unset PROPTEST_RNG_SEED
    rounds=$((rounds + 1))
done
echo "search: $rounds rounds, no failure"
