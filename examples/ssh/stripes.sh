#!/bin/sh
# A load from the machines that the file HOSTS names, one a line; the runs are gathered and merged in OUT:
#   stripes.sh HOSTS OUT 'http://127.0.0.1:8080/api -r 100k -d 60s'
set -eu
export OUT="$2" LOAD="$3" SSH="${SSH:-ssh}" OF="$(grep -c . "$1")" START="$(date -u -d "+${LEAD:-20} seconds" +%Y-%m-%dT%H:%M:%SZ)"
mkdir -p "$OUT"
grep . "$1" | cat -n | xargs -P "$OF" -L 1 sh -c 'mkdir -p "$OUT/stripe-$0" && $SSH "$1" \
    "d=\$(mktemp -d) && { truetail run $LOAD --stripe $0/$OF --start-at $START --out \$d/run --quiet >&2; tar c -C \$d/run .; rm -r \$d; }" \
    </dev/null | tar x -C "$OUT/stripe-$0"'
exec truetail merge "$OUT"/stripe-* --out "$OUT/merged"
