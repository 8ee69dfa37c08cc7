#!/usr/bin/env bash
# One node of cluster.sh: containerd and kubelet, in the namespaces in which it was started: node.sh WORK I NET. Its control groups
# are called $GROUP-I.
set -eu
W=$1; I=$2; NET=$3; D=$W/node$I; export PATH=$W/bin:$PATH
ip link set lo up; ip addr add $NET.$((10+I))/24 dev eth0; ip link set eth0 up; ip route add default via $NET.1
mount -t tmpfs tmpfs /run
mkdir -p "$D"/{kubelet,containerd,logs,cni} /run/containerd
for place in /var/lib/kubelet /var/lib/cni /var/log/containers; do mkdir -p $place; mount -t tmpfs tmpfs $place; done
cat > "$D/containerd.toml" <<T
version = 2
root = "$D/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.snapshotter.v1.aufs","io.containerd.snapshotter.v1.btrfs","io.containerd.snapshotter.v1.zfs","io.containerd.snapshotter.v1.devmapper","io.containerd.tracing.processor.v1.otlp"]
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:here"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$D/cni"
T
cat > "$D/cni/10-here.conflist" <<T
{"cniVersion":"0.4.0","name":"here","plugins":[{"type":"ptp","ipMasq":false,
 "ipam":{"type":"host-local","dataDir":"/run/cni","ranges":[[{"subnet":"198.51.100.$((128+(I-1)*16))/28"}]],"routes":[{"dst":"0.0.0.0/0"}]}}]}
T
echo 1 > /proc/sys/net/ipv4/ip_forward; echo 1 > /proc/sys/net/ipv4/conf/eth0/proxy_arp
containerd -c "$D/containerd.toml" > "$W/log/containerd$I" 2>&1 &
for _ in $(seq 200); do ctr version >/dev/null 2>&1 && break; sleep 0.05; done
for f in "$W"/images/*.tar; do ctr -n k8s.io images import "$f"; done
for c in /sys/fs/cgroup/*/; do mkdir -p "$c/$GROUP-$I"; done
cp /sys/fs/cgroup/cpuset/cpuset.cpus /sys/fs/cgroup/cpuset/cpuset.mems /run/ 2>/dev/null || :
for f in cpuset.cpus cpuset.mems; do cat /sys/fs/cgroup/cpuset/$f > /sys/fs/cgroup/cpuset/$GROUP-$I/$f; done
cat > "$D/kubelet.yaml" <<T
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $NET.$((10+I))
readOnlyPort: 0
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
cgroupDriver: cgroupfs
cgroupRoot: /$GROUP-$I
enforceNodeAllocatable: [pods]
failCgroupV1: false
failSwapOn: false
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
podLogsDir: $D/logs
resolvConf: $W/resolv.conf
makeIPTablesUtilChains: false
evictionHard: {memory.available: "100Mi", nodefs.available: "1%"}
nodeStatusUpdateFrequency: 5s
syncFrequency: 10s
imageGCHighThresholdPercent: 100
T
# What has ended is not started again. The first process stays: with it, all of the node would end.
kubelet --config "$D/kubelet.yaml" --kubeconfig "$W/kubeconfig" --root-dir "$D/kubelet" --cert-dir "$D/pki" \
  --hostname-override node$I --node-ip $NET.$((10+I)) || :
exec sleep infinity
