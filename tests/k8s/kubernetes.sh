#!/usr/bin/env bash
# Kubernetes from its sources, as one static program, where it is not built yet. Prints the folder that it is in, which is a cache
# that several clones of this repository share. Go's own cache, some 4 GB, is removed again.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${TRUETAIL_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/truetail/tools}/kubernetes
sources=(go.mod go.sum main.go pause/main.go)
built=$cache/$(cd "$here/hk" && cat "${sources[@]}" | sha256sum | cut -c 1-16)

if [ ! -d "$built" ]; then
    mkdir -p "$cache"
    build=$(mktemp -d "$cache/build.XXXXXX")
    trap 'rm -rf "$build"' EXIT
    echo "building Kubernetes from source, for five minutes and more, with 4 GB of disk" >&2
    version=k8s.io/component-base/version
    export GOPATH=$build/modules GOCACHE=$build/objects CGO_ENABLED=0
    # Half of the time: no debug information, and the compiler collects its garbage less often.
    export GOGC=400
    export GOFLAGS="-gcflags=all=-dwarf=false -buildvcs=false -mod=readonly -modcacherw -trimpath"
    mkdir "$build/bin"
    cd "$here/hk"
    go build -o "$build/bin/pause" ./pause
    go build -tags selinux,notest,grpcnotrace -o "$build/bin/hk" \
        -ldflags "-s -w -X $version.gitVersion=v1.33.4 -X $version.gitMajor=1 -X $version.gitMinor=33 -X $version.gitTreeState=clean" .
    # Whoever builds at the same time may have been first.
    mv -T "$build/bin" "$built" || [ -x "$built/hk" ]
fi
echo "$built"
