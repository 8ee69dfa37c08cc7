#!/usr/bin/env bash
# A real Kubernetes of three nodes on this machine, and `truetail k8s` on it. What it builds is kept in target/k8s.
#
# TRUETAIL_K8S_BINARY=FILE tests this static binary in place of building one. TRUETAIL_K8S_WORK=DIR keeps the logs of the
# cluster there.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=$PWD/tests/k8s
cache=${CARGO_TARGET_DIR:-$PWD/target}/k8s

skipped() {
    echo "SKIPPED: tests/k8s: $1"
    [ "${TRUETAIL_STRICT:-}" != 1 ] || exit 1
    exit 0
}
say() { printf '%s  %s\n' "$(date -u +%H:%M:%S)" "$*"; }

[ "$(uname -s)" = Linux ] || skipped "it needs Linux"
[ "$(id -u)" = 0 ] || skipped "it makes network namespaces, which needs root"
for program in go python3 ip nsenter unshare openssl etcd containerd runc iptables; do
    command -v $program > /dev/null || skipped "no $program; tests/k8s/install.sh installs what Debian has"
done
[ -x /usr/lib/cni/ptp ] || skipped "no CNI plugins; tests/k8s/install.sh installs them"
unshare -mnpf --kill-child true 2> /dev/null || skipped "this machine allows no new namespaces"

# Kubernetes as one static program. Its modules are pinned by go.sum.
mkdir -p "$cache/bin"
if [ ! -x "$cache/bin/hk" ] || [ "$here/hk/main.go" -nt "$cache/bin/hk" ] || [ "$here/hk/go.sum" -nt "$cache/bin/hk" ]; then
    say "building Kubernetes from source: some minutes, 4 GB"
    version=k8s.io/component-base/version
    export GOPATH=$cache/gopath GOCACHE=$cache/gocache GOFLAGS="-buildvcs=false -mod=readonly -modcacherw" CGO_ENABLED=0
    cd "$here/hk"
    go build -trimpath -o "$cache/bin/pause" ./pause
    go build -p 2 -trimpath -tags selinux,notest,grpcnotrace -o "$cache/bin/hk" \
        -ldflags "-s -w -X $version.gitVersion=v1.33.4 -X $version.gitMajor=1 -X $version.gitMinor=33 -X $version.gitTreeState=clean" .
    cd - > /dev/null
fi

binary=${TRUETAIL_K8S_BINARY:-}
if [ -z "$binary" ]; then
    say "building the static binary"
    tools/static.sh
    binary=${CARGO_TARGET_DIR:-target}/release/truetail-static
fi

work=${TRUETAIL_K8S_WORK:-$(mktemp -d)}
[ -n "${TRUETAIL_K8S_WORK:-}" ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work/images"
work=$(cd "$work" && pwd)
python3 "$here/mkimage.py" localhost/pause:here "$work/images/pause.tar" /pause "$cache/bin/pause"
python3 "$here/mkimage.py" localhost/truetail:here "$work/images/truetail.tar" /truetail "$binary"
say "image of $(stat -c %s "$work/images/truetail.tar") bytes"

status=0
TRUETAIL=$(realpath "$binary") HK=$cache/bin/hk timeout -s KILL "${TRUETAIL_K8S_LIMIT:-420}" \
    unshare -mnpf --kill-child --mount-proc bash "$here/cluster.sh" "$work" 3 -- python3 "$here/cases.py" "$work" || status=$?
if [ $status != 0 ]; then
    say "FAILED ($status)"
    [ -z "${TRUETAIL_K8S_WORK:-}" ] && tail -n 5 "$work"/log/* 2> /dev/null
fi
exit $status
