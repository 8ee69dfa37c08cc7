#!/usr/bin/env bash
# Installs packages of Debian or Ubuntu, and starts none of their services: apt-without-services.sh PACKAGE…
set -euo pipefail
[ "$(id -u)" = 0 ] || { echo "installing $* needs root" >&2; exit 1; }
command -v apt-get > /dev/null || { echo "no apt-get here to install $*" >&2; exit 1; }
export DEBIAN_FRONTEND=noninteractive
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
    printf '#!/bin/sh\nexit 101\n' > $policy
    chmod +x $policy
    trap 'rm -f $policy' EXIT
fi
install() { apt-get install -qq -y --no-install-recommends "$@" > /dev/null; }
install "$@" || { apt-get update -qq && install "$@"; }
