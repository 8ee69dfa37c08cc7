#!/usr/bin/env bash
# A Kubernetes of NODES nodes on this machine, in namespaces of its own:
#   unshare -mnpf --kill-child --mount-proc bash cluster.sh WORK NODES -- COMMAND…
# brings the cluster up, runs COMMAND with KUBECONFIG set, and ends with its status. To kill the unshare process kills all of
# it. The machine is 198.51.100.1, its nodes are .11, .12 … Users: admin, and loader, who may nothing yet.
set -eu
W=$1; N=$2; shift 3
HERE=$(cd "$(dirname "$0")" && pwd)
NET=198.51.100
API=https://$NET.1:6443
step() { printf '%s  %s\n' "$(date -u +%H:%M:%S)" "$*" >&2; }
mkdir -p "$W/log" "$W/pki" "$W/bin"
cd "$W"
mount -t tmpfs tmpfs /run
# What pods find in their /etc/resolv.conf: the server of cases.py.
echo "nameserver $NET.1" > resolv.conf
ip link set lo up
ip link add br0 type bridge
ip addr add $NET.1/24 dev br0
ip link set br0 up
for part in kube-apiserver kube-controller-manager kube-scheduler kubelet kubectl; do ln -sf "$HK" "$W/bin/$part"; done
export PATH=$W/bin:$PATH

token() { head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n'; }
kubeconfig() {
    cat > "$1" <<K
apiVersion: v1
kind: Config
clusters: [{name: here, cluster: {server: "$API", certificate-authority: $W/pki/api.crt}}]
users: [{name: user, user: {token: "$2"}}]
contexts: [{name: here, context: {cluster: here, user: user, namespace: load}}]
current-context: here
K
}
ADMIN=$(token)
LOADER=$(token)
printf '%s,admin,admin,system:masters\n%s,loader,loader\n' "$ADMIN" "$LOADER" > pki/tokens.csv
kubeconfig kubeconfig "$ADMIN"
kubeconfig loader "$LOADER"
openssl genrsa -out pki/sa.key 2048 2> /dev/null
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=here" -addext "subjectAltName=IP:$NET.1,IP:127.0.0.1" \
    -keyout pki/api.key -out pki/api.crt 2> /dev/null
export KUBECONFIG=$W/kubeconfig KUBECACHEDIR=$W/kubectl

etcd --data-dir "$W/etcd" --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
    --listen-peer-urls http://127.0.0.1:2380 --unsafe-no-fsync > log/etcd 2>&1 &
kube-apiserver --etcd-servers http://127.0.0.1:2379 --bind-address $NET.1 --secure-port 6443 --advertise-address $NET.1 \
    --tls-cert-file pki/api.crt --tls-private-key-file pki/api.key --token-auth-file pki/tokens.csv \
    --authorization-mode Node,RBAC --service-cluster-ip-range 203.0.113.0/24 \
    --service-account-issuer https://here --service-account-key-file pki/sa.key --service-account-signing-key-file pki/sa.key \
    --allow-privileged --kubelet-preferred-address-types=InternalIP > log/apiserver 2>&1 &
for _ in $(seq 600); do kubectl get --raw /readyz > /dev/null 2>&1 && break; sleep 0.1; done
kubectl get --raw /readyz > /dev/null
step "the API server is ready"
kube-controller-manager --kubeconfig kubeconfig --authentication-kubeconfig kubeconfig --authorization-kubeconfig kubeconfig \
    --bind-address 127.0.0.1 --leader-elect=false --use-service-account-credentials=false \
    --service-account-private-key-file pki/sa.key --root-ca-file pki/api.crt > log/controller-manager 2>&1 &
kube-scheduler --kubeconfig kubeconfig --authentication-kubeconfig kubeconfig --authorization-kubeconfig kubeconfig \
    --bind-address 127.0.0.1 --leader-elect=false > log/scheduler 2>&1 &

# Nodes: each with its own network, mounts and processes, its own containerd and kubelet.
mkdir -p /run/netns
for i in $(seq "$N"); do
    ip netns add node$i
    ip link add v$i type veth peer name eth0 netns node$i
    ip link set v$i master br0 up
    mkdir -p "$W/node$i"
    nsenter --net=/run/netns/node$i unshare -mpf --kill-child --mount-proc bash "$HERE/node.sh" "$W" $i $NET > log/node$i 2>&1 &
    echo $! > "$W/node$i/pid"
done
for i in $(seq "$N"); do
    for _ in $(seq 900); do kubectl get node node$i > /dev/null 2>&1 && break; sleep 0.1; done
done
kubectl wait --for=condition=Ready node --all --timeout=90s > /dev/null
step "$N nodes are ready"
kubectl create namespace load > /dev/null
for _ in $(seq 300); do kubectl get serviceaccount default > /dev/null 2>&1 && break; sleep 0.1; done
status=0
"$@" || status=$?
exit $status
