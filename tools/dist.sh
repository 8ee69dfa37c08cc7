#!/usr/bin/env bash
# The files of a release, in target/dist: tools/dist.sh [--binary FILE] [--out DIR] [--no-lists]
#
#   truetail-VERSION-SYSTEM-ARCH.tar.gz   the static binary, man pages, completions, licence
#   truetail_VERSION_ARCH.deb             the same for Debian and Ubuntu, if dpkg-deb is there
#   truetail-VERSION-1.ARCH.rpm           the same for Fedora and its kin, if rpmbuild is there
#   truetail-VERSION-linux-ARCH.oci.tar   an image with the binary and this machine's certificates, on Linux, if umoci is there
#   truetail-VERSION-cp39-abi3-….whl      the Python package with the command, if maturin is there; not with --binary
#   truetail-VERSION-SYSTEM-ARCH.cdx.json the dependencies (CycloneDX), if cargo-cyclonedx is there
#   truetail-VERSION-SYSTEM-ARCH-licences.html   their licences, if cargo-about is there; takes minutes
#   SHA256SUMS
#
# --no-lists leaves out the dependencies and their licences. What cannot be made here is named on standard error; with TRUETAIL_STRICT=1 that is a failure.
#
# Without --binary it builds one: static on Linux (tools/static.sh). The same sources and compiler give the same bytes: paths of the machine
# are left out of the binary, and files have the time of the last commit, no owner and a fixed order. TAR is a GNU tar, such as gtar on macOS.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target} tar=${TAR:-tar} binary='' out='' lists=yes wheel=yes
while [ $# -gt 0 ]; do
    case $1 in
        --binary) binary=${2:?--binary FILE} wheel=no; shift 2 ;;
        --no-lists) lists=no; shift ;;
        --out) out=${2:?--out DIR}; shift 2 ;;
        *) echo "usage: tools/dist.sh [--binary FILE] [--out DIR] [--no-lists]" >&2; exit 2 ;;
    esac
done
out=${out:-$target/dist}
summary='load tester whose tail latency is true'
description='truetail sends requests on a schedule that does not wait for the server,
accounts for every request it planned, and prints only percentiles that the
data supports.'
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
system=$(uname -s | tr '[:upper:]' '[:lower:]')
arch=$(uname -m)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
cargo=${CARGO:-cargo}
# Panics name their source files. Here they are the same on every machine.
[ -n "$binary" ] || export RUSTFLAGS="--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo --remap-path-prefix=$PWD=/truetail --remap-path-prefix=$(rustc --print sysroot)=/rust ${RUSTFLAGS:-}"

build() {
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

# make_if PROGRAM WHAT FUNCTION: makes it of the contents, or says that it cannot be made here.
make_if() {
    if command -v "$1" >/dev/null; then
        "$3" "$work/$name"
    else
        echo "SKIPPED: $2: no $1" >&2
        [ "${TRUETAIL_STRICT:-}" != 1 ]
    fi
}

# tree FROM ROOT ZSH FISH: the contents in FROM, as they are installed below ROOT, with these folders of completions.
tree() {
    local page
    install -d "$2/usr/bin" "$2/usr/share/man/man1" "$2/usr/share/bash-completion/completions" "$2$3" "$2$4"
    install -m 755 "$1/bin/truetail" "$2/usr/bin/truetail"
    for page in "$1"/man/*; do gzip -9nc "$page" >"$2/usr/share/man/man1/${page##*/}.gz"; done
    chmod 644 "$2"/usr/share/man/man1/*
    install -m 644 "$1/completions/truetail.bash" "$2/usr/share/bash-completion/completions/truetail"
    install -m 644 "$1/completions/_truetail" "$2$3/_truetail"
    install -m 644 "$1/completions/truetail.fish" "$2$4/truetail.fish"
}

# dated ROOT: gives everything below ROOT the time of the commit.
dated() { find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +; }

# deb FROM: a package of the contents in FROM.
deb() {
    local root=$work/deb deb_arch
    deb_arch=$(dpkg --print-architecture)
    tree "$1" "$root" /usr/share/zsh/vendor-completions /usr/share/fish/vendor_completions.d
    install -d "$root/DEBIAN" "$root/usr/share/doc/truetail"
    install -m 644 LICENSE "$root/usr/share/doc/truetail/copyright"
    gzip -9nc CHANGELOG.md >"$root/usr/share/doc/truetail/changelog.gz"
    chmod 644 "$root/usr/share/doc/truetail/changelog.gz"
    cat >"$root/DEBIAN/control" <<CONTROL
Package: truetail
Version: $version
Architecture: $deb_arch
Maintainer: truetail <maintainers@users.noreply.github.com>
Installed-Size: $(du -sk --apparent-size "$root/usr" | cut -f1)
Section: net
Priority: optional
Description: $summary
$(sed 's/^/ /' <<<"$description")
CONTROL
    dated "$root"
    dpkg-deb --root-owner-group -Zgzip -z9 --build "$root" "$out/truetail_${version}_$deb_arch.deb" >/dev/null
}

# rpm FROM: a package of the contents in FROM. The binary is static, so nothing is stripped and nothing is required.
rpm() {
    local root=$work/rpm
    tree "$1" "$root" /usr/share/zsh/site-functions /usr/share/fish/vendor_completions.d
    install -d "$root/usr/share/licenses/truetail" "$root/usr/share/doc/truetail"
    install -m 644 LICENSE "$root/usr/share/licenses/truetail"
    install -m 644 README.md CHANGELOG.md "$root/usr/share/doc/truetail"
    dated "$root"
    cat >"$work/truetail.spec" <<SPEC
%global debug_package %{nil}
%global __os_install_post %{nil}
%global _build_id_links none
%global _buildhost localhost
%global use_source_date_epoch_as_buildtime 1
%global clamp_mtime_to_source_date_epoch 1
%global _binary_payload w9.gzdio
Name: truetail
Version: $version
Release: 1
Summary: $summary
License: Apache-2.0
AutoReqProv: no
%description
$description
%install
cp -a $root/. %{buildroot}
%files
/usr/bin/truetail
/usr/share/man/man1/*
/usr/share/bash-completion/completions/truetail
/usr/share/zsh/site-functions/_truetail
/usr/share/fish/vendor_completions.d/truetail.fish
%license /usr/share/licenses/truetail/LICENSE
%doc /usr/share/doc/truetail/*
SPEC
    rpmbuild -bb --quiet --define "_topdir $work/rpmbuild" --define "_rpmdir $out" --define '_rpmfilename %{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}.rpm' \
        "$work/truetail.spec"
}

# image FROM: an OCI image of the binary in FROM and the certificates of this machine, made without a daemon.
image() {
    local root=$work/image-root layout=$work/image created image oci_arch
    case $arch in x86_64) oci_arch=amd64 ;; aarch64) oci_arch=arm64 ;; *) oci_arch=$arch ;; esac
    created=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
    # With this name `podman load` has truetail:VERSION.
    image=$layout:truetail:$version
    install -d "$root/etc/ssl/certs"
    install -m 755 "$1/bin/truetail" "$root/truetail"
    install -m 644 /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs"
    dated "$root"
    umoci init --layout "$layout"
    umoci new --image "$image"
    umoci insert --rootless --image "$image" --history.created "$created" --history.created_by tools/dist.sh "$root" /
    # As in the Dockerfile.
    umoci config --image "$image" --no-history --created "$created" --os linux --architecture "$oci_arch" \
        --config.user 65532:65532 --config.entrypoint /truetail
    umoci gc --layout "$layout"
    "$tar" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=ustar -C "$layout" \
        -cf "$out/$name.oci.tar" .
}

# wheel: the Python package, for any Python from 3.9 on. maturin names the oldest glibc that its symbols allow.
wheel() {
    (cd bindings/python && maturin build --quiet --locked --out "$out")
}

# lists: the dependencies and their licences, of a copy of the last commit, because cargo-cyclonedx writes beside each manifest.
lists() {
    mkdir "$work/src"
    git archive HEAD | "$tar" -x -C "$work/src"
    make_if cargo-cyclonedx "the list of dependencies" dependencies
    make_if cargo-about "the licences of the dependencies" licences
}

# dependencies: the packages that are in the binary.
dependencies() {
    (cd "$work/src" && cargo cyclonedx --manifest-path crates/cli/Cargo.toml --format json --spec-version 1.5 --quiet)
    sed "s#$work/src#/truetail#g" "$work/src/crates/cli/truetail.cdx.json" >"$out/$name.cdx.json"
}

# licences: the texts of the licences of those packages, as they are in the packages: no server is asked.
licences() {
    (cd "$work/src" && cargo about generate --manifest-path crates/cli/Cargo.toml --config tools/licences.toml --frozen --fail tools/licences.hbs) \
        >"$out/$name-licences.html"
}

sums() {
    (cd "$out" && { command -v sha256sum >/dev/null && sha256sum -- truetail[-_]* || shasum -a 256 truetail[-_]*; } >SHA256SUMS)
}

umask 022
work=$(mktemp -d)
# Each of these is slow, and for long uses one processor only.
beside=()
end() {
    for job in ${beside[@]+"${beside[@]}"}; do kill -- "-$job" 2>/dev/null || :; done
    rm -rf "$work"
}
trap end EXIT
rm -rf "$out" && mkdir -p "$out"
out=$(cd "$out" && pwd)
name=truetail-$version-$system-$arch
# Jobs have process groups of their own, so that all of one can be ended.
set -m
if [ $wheel = yes ]; then
    make_if maturin "the Python package" wheel & beside+=($!)
fi
if [ $lists = yes ]; then
    lists & beside+=($!)
fi
set +m
[ -n "$binary" ] || build
contents "$work/$name"
archive "$work" "$name"
make_if dpkg-deb "the Debian package" deb
if [ "$system" = linux ]; then
    make_if rpmbuild "the RPM package" rpm
    make_if umoci "the image" image
fi
for job in ${beside[@]+"${beside[@]}"}; do wait "$job"; done
sums
cat "$out/SHA256SUMS"
