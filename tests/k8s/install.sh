#!/usr/bin/env bash
# What the nodes of tests/k8s are made of, from Debian's or Ubuntu's packages. Their services are not started.
set -euo pipefail
programs=(etcd containerd runc iptables)
plugin=/usr/lib/cni/ptp
there() { for program in "${programs[@]}"; do command -v "$program" > /dev/null || return 1; done; [ -x $plugin ]; }

there && exit 0
[ "$(id -u)" = 0 ] || { echo "tests/k8s: installing packages needs root" >&2; exit 1; }
command -v apt-get > /dev/null || { echo "tests/k8s: no apt-get here; install ${programs[*]} and the CNI plugins" >&2; exit 1; }
export DEBIAN_FRONTEND=noninteractive
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
    printf '#!/bin/sh\nexit 101\n' > $policy
    chmod +x $policy
    trap 'rm -f $policy' EXIT
fi
apt-get install -qq -y --no-install-recommends etcd-server containerd runc containernetworking-plugins iptables > /dev/null
there
