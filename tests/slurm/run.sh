#!/usr/bin/env bash
# examples/slurm on a real Slurm of four nodes on this machine. All of it lives in namespaces of its own, and is gone with them
# however this ends. TRUETAIL_SLURM_BINARY=FILE tests this binary in place of a debug build.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=$PWD/tests/slurm

# What a machine cannot help is no failure, even with TRUETAIL_STRICT=1; a program that can be installed is.
skipped() { echo "SKIPPED: tests/slurm: $1"; exit 0; }
lacking() { echo "SKIPPED: tests/slurm: $1"; [ "${TRUETAIL_STRICT:-}" != 1 ]; exit $?; }

[ "$(uname -s)" = Linux ] || skipped "it needs Linux"
[ "$(id -u)" = 0 ] || skipped "it makes namespaces, which needs root"
unshare -mnpf --kill-child true 2> /dev/null || skipped "this machine allows no new namespaces"
for program in python3 ip unshare setpriv munged slurmctld slurmd sbatch; do
    command -v $program > /dev/null || lacking "no $program; tests/slurm/install.sh installs what Debian has"
done

binary=${TRUETAIL_SLURM_BINARY:-}
if [ -z "$binary" ]; then
    "${CARGO:-cargo}" build --locked -p truetail
    binary=${CARGO_TARGET_DIR:-target}/debug/truetail
fi

work=$(mktemp -d)
cluster=
cleanup() {
    [ -z "$cluster" ] || kill -KILL "$cluster" 2> /dev/null || true
    wait
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Neither `timeout` nor `unshare` outlives this script.
TRUETAIL=$(realpath "$binary") setpriv --pdeathsig KILL timeout -s KILL 120 setpriv --pdeathsig KILL \
    unshare -mnpf --kill-child --mount-proc bash "$here/cluster.sh" "$work" 4 -- python3 "$here/case.py" "$work" &
cluster=$!
status=0
wait $cluster || status=$?
cluster=
[ $status = 0 ] || tail -n 5 "$work"/log/* 2> /dev/null || true
exit $status
