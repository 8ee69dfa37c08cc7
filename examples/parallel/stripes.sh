#!/bin/sh
# A load from N processes by GNU parallel, here or, with PARALLEL='--sshloginfile HOSTS', elsewhere; merged in OUT:
#   stripes.sh N OUT http://127.0.0.1:8080/api -r 100k -d 60s
# Elsewhere OUT has to be a folder that all machines see.
set -eu
n=$1 out=$2
shift 2
start=$(date -u -d "+${LEAD:-20} seconds" +%Y-%m-%dT%H:%M:%SZ)
seq "$n" | parallel --quote -j0 truetail run "$@" --stripe "{}/$n" --start-at "$start" --out "$out/stripe-{}" --quiet || true
exec truetail merge "$out"/stripe-* --out "$out/merged"
