#!/usr/bin/env bash
# A formula for Homebrew from the sums of a release: tools/formula.sh OWNER/NAME SHA256SUMS
#
# SHA256SUMS has the lines of all systems, as the workflow release.yml joins them. A system without a line is left out.
set -euo pipefail
[ $# = 2 ] || { echo "usage: tools/formula.sh OWNER/NAME SHA256SUMS" >&2; exit 2; }
repository=$1 sums=$2
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' "$(dirname "$0")/../Cargo.toml")
found=0

# archive SYSTEM ARCH BLOCK: the block of a system.
archive() {
    local file=truetail-$version-$1-$2.tar.gz sum
    sum=$(awk -v file="$file" '$2 == file { print $1 }' "$sums")
    [ -n "$sum" ] || return 0
    found=1
    printf '    %s do\n      url "https://github.com/%s/releases/download/v%s/%s"\n      sha256 "%s"\n    end\n' \
        "$3" "$repository" "$version" "$file" "$sum"
}

blocks() {
    echo "  on_macos do"
    archive darwin arm64 on_arm
    archive darwin x86_64 on_intel
    printf '  end\n\n  on_linux do\n'
    archive linux aarch64 on_arm
    archive linux x86_64 on_intel
    echo "  end"
}

blocks >/dev/null
[ $found = 1 ] || { echo "$sums has no archive of version $version" >&2; exit 1; }
cat <<FORMULA
class Truetail < Formula
  desc "Load tester whose tail latency is true"
  homepage "https://github.com/$repository"
  version "$version"
  license "Apache-2.0"

$(blocks)

  def install
    bin.install "bin/truetail"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/truetail.bash" => "truetail"
    zsh_completion.install "completions/_truetail"
    fish_completion.install "completions/truetail.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/truetail --version")
  end
end
FORMULA
