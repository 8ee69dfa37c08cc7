#!/usr/bin/env bash
# The files of a release, in target/dist: tools/dist.sh [--binary FILE] [--out DIR]
#
#   truetail-VERSION-SYSTEM-ARCH.tar.gz   the static binary, man pages, completions, licence
#   truetail_VERSION_ARCH.deb             the same for Debian and Ubuntu, if dpkg-deb is there
#   SHA256SUMS
#
# Without --binary it builds one: static on Linux (tools/static.sh). The same sources and compiler give the same bytes: paths of the machine
# are left out of the binary, and files have the time of the last commit, no owner and a fixed order. TAR is a GNU tar, such as gtar on macOS.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target} tar=${TAR:-tar} binary='' out=''
while [ $# -gt 0 ]; do
    case $1 in
        --binary) binary=${2:?--binary FILE}; shift 2 ;;
        --out) out=${2:?--out DIR}; shift 2 ;;
        *) echo "usage: tools/dist.sh [--binary FILE] [--out DIR]" >&2; exit 2 ;;
    esac
done
out=${out:-$target/dist}
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
system=$(uname -s | tr '[:upper:]' '[:lower:]')
arch=$(uname -m)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC

build() {
    local cargo=${CARGO:-cargo}
    local home=${CARGO_HOME:-$HOME/.cargo}
    # Panics name their source files. Here they are the same on every machine.
    export RUSTFLAGS="--remap-path-prefix=$home=/cargo --remap-path-prefix=$PWD=/truetail --remap-path-prefix=$(rustc --print sysroot)=/rust ${RUSTFLAGS:-}"
    if [ "$system" = linux ]; then
        tools/static.sh
        binary=$target/release/truetail-static
    else
        "$cargo" build --release --locked -p truetail
        binary=$target/release/truetail
    fi
}

# contents FOLDER: the binary, and what it writes itself.
contents() {
    install -d "$1/bin" "$1/man" "$1/completions"
    install -m 755 "$binary" "$1/bin/truetail"
    "$binary" man --out "$1/man"
    "$binary" completions bash >"$1/completions/truetail.bash"
    "$binary" completions zsh >"$1/completions/_truetail"
    "$binary" completions fish >"$1/completions/truetail.fish"
    chmod 644 "$1"/man/* "$1"/completions/*
    install -m 644 LICENSE README.md CHANGELOG.md "$1"
}

# archive FOLDER NAME: NAME.tar.gz of FOLDER/NAME.
archive() {
    "$tar" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=ustar -C "$1" -cf - "$2" |
        gzip -9n >"$out/$2.tar.gz"
}

# deb FROM: a package of the contents in FROM.
deb() {
    local root=$work/deb deb_arch page
    deb_arch=$(dpkg --print-architecture)
    install -d "$root/DEBIAN" "$root/usr/bin" "$root/usr/share/man/man1" "$root/usr/share/doc/truetail"
    install -d "$root/usr/share/bash-completion/completions" "$root/usr/share/zsh/vendor-completions" "$root/usr/share/fish/vendor_completions.d"
    install -m 755 "$1/bin/truetail" "$root/usr/bin/truetail"
    for page in "$1"/man/*; do gzip -9nc "$page" >"$root/usr/share/man/man1/${page##*/}.gz"; done
    install -m 644 "$1/completions/truetail.bash" "$root/usr/share/bash-completion/completions/truetail"
    install -m 644 "$1/completions/_truetail" "$root/usr/share/zsh/vendor-completions/_truetail"
    install -m 644 "$1/completions/truetail.fish" "$root/usr/share/fish/vendor_completions.d/truetail.fish"
    install -m 644 LICENSE "$root/usr/share/doc/truetail/copyright"
    gzip -9nc CHANGELOG.md >"$root/usr/share/doc/truetail/changelog.gz"
    chmod 644 "$root/usr/share/doc/truetail/changelog.gz" "$root"/usr/share/man/man1/*
    cat >"$root/DEBIAN/control" <<CONTROL
Package: truetail
Version: $version
Architecture: $deb_arch
Maintainer: truetail <maintainers@users.noreply.github.com>
Installed-Size: $(du -sk --apparent-size "$root/usr" | cut -f1)
Section: net
Priority: optional
Description: load tester whose tail latency is true
 truetail sends requests on a schedule that does not wait for the server,
 accounts for every request it planned, and prints only percentiles that the
 data supports.
CONTROL
    find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group -Zgzip -z9 --build "$root" "$out/truetail_${version}_$deb_arch.deb" >/dev/null
}

sums() {
    (cd "$out" && { command -v sha256sum >/dev/null && sha256sum -- truetail[-_]* || shasum -a 256 truetail[-_]*; } >SHA256SUMS)
}

[ -n "$binary" ] || build
umask 022
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -rf "$out" && mkdir -p "$out"
out=$(cd "$out" && pwd)
name=truetail-$version-$system-$arch
contents "$work/$name"
archive "$work" "$name"
if command -v dpkg-deb >/dev/null; then deb "$work/$name"; fi
sums
cat "$out/SHA256SUMS"
