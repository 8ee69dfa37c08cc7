#!/usr/bin/env bash
# What the nodes of tests/k8s are made of, from Debian's or Ubuntu's packages.
set -euo pipefail
there() {
    for program in etcd containerd runc iptables ip openssl; do command -v $program > /dev/null || return 1; done
    [ -x /usr/lib/cni/ptp ]
}

there && exit 0
"$(dirname "$0")/../../tools/apt-without-services.sh" \
    etcd-server containerd runc containernetworking-plugins iptables iproute2 openssl
there
