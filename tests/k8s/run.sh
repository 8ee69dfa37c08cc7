#!/usr/bin/env bash
# A real Kubernetes of three nodes on this machine, and `truetail k8s` on it: run.sh [CASE…], without names all of cases.py.
# All of it lives in namespaces of its own, and is gone with them however this ends.
#
# TRUETAIL_K8S_BINARY=FILE tests this binary in place of a static one that is linked for it. TRUETAIL_K8S_WORK=DIR keeps the logs
# of the cluster there. TRUETAIL_K8S_LIMIT=SECONDS is the longest that the cluster may live.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=$PWD/tests/k8s

# What a machine cannot help is no failure, even with TRUETAIL_STRICT=1; a program that can be installed is.
skipped() { echo "SKIPPED: tests/k8s: $1"; exit 0; }
lacking() { echo "SKIPPED: tests/k8s: $1"; [ "${TRUETAIL_STRICT:-}" != 1 ]; exit $?; }
say() { printf '%s  %s\n' "$(date -u +%H:%M:%S)" "$*"; }

[ "$(uname -sm)" = "Linux x86_64" ] || skipped "it needs Linux on x86-64"
[ "$(id -u)" = 0 ] || skipped "it makes network namespaces, which needs root"
[ -d /sys/fs/cgroup/cpuset ] || skipped "its nodes need control groups of version 1 under /sys/fs/cgroup"
unshare -mnpf --kill-child true 2> /dev/null || skipped "this machine allows no new namespaces"
for program in go python3 ip nsenter unshare setpriv openssl etcd containerd runc iptables; do
    command -v $program > /dev/null || lacking "no $program; tests/k8s/install.sh installs what Debian has"
done
[ -x /usr/lib/cni/ptp ] || lacking "no CNI plugins; tests/k8s/install.sh installs them"

kubernetes=$(timeout 1500 "$here/kubernetes.sh") || lacking "Kubernetes could not be built from its sources"

binary=${TRUETAIL_K8S_BINARY:-}
if [ -z "$binary" ]; then
    say "linking the static binary"
    tools/static.sh --debug
    binary=${CARGO_TARGET_DIR:-target}/debug/truetail-static
fi

work=${TRUETAIL_K8S_WORK:-$(mktemp -d)}
mkdir -p "$work/images"
work=$(cd "$work" && pwd)
cluster=
export GROUP=truetail-k8s-$$

# The namespaces take processes, mounts and interfaces with them; control groups belong to the machine.
cleanup() {
    [ -z "$cluster" ] || kill -KILL "$cluster" 2> /dev/null || true
    wait
    for _ in $(seq 50); do
        find /sys/fs/cgroup/*/"$GROUP"-* -depth -type d -exec rmdir {} + 2> /dev/null || true
        [ -n "$(find /sys/fs/cgroup -maxdepth 2 -name "$GROUP-*" -print -quit)" ] || break
        sleep 0.1
    done
    [ -n "${TRUETAIL_K8S_WORK:-}" ] || rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

python3 "$here/mkimage.py" localhost/pause:here "$work/images/pause.tar" "$kubernetes/pause=/pause"
{ echo id; seq 1800; } > "$work/rows.csv"
python3 "$here/mkimage.py" localhost/truetail:here "$work/images/truetail.tar" "$binary=/truetail" "$work/rows.csv=/rows.csv"
say "image of $(stat -c %s "$work/images/truetail.tar") bytes"

# Neither `timeout` nor `unshare` outlives this script.
TRUETAIL=$(realpath "$binary") HK=$kubernetes/hk setpriv --pdeathsig KILL \
    timeout -s KILL "${TRUETAIL_K8S_LIMIT:-600}" setpriv --pdeathsig KILL \
    unshare -mnpf --kill-child --mount-proc bash "$here/cluster.sh" "$work" 3 -- python3 "$here/cases.py" "$work" "$@" &
cluster=$!
status=0
wait $cluster || status=$?
cluster=
# A case says itself what was wrong; where there was none, the cluster did not come up.
compgen -G "$work/log/case-*" > /dev/null || tail -n 5 "$work"/log/* 2> /dev/null || true
[ $status = 0 ] || say "FAILED ($status)"
exit $status
