#!/usr/bin/env bash
# A Slurm of NODES nodes on this machine, in namespaces of its own:
#   unshare -mnpf --kill-child --mount-proc bash cluster.sh WORK NODES -- COMMAND…
# brings it up, runs COMMAND with SLURM_CONF set, and ends with its status.
set -eu
W=$1; N=$2; shift 3
ADDRESS=198.51.100.1
HOST=$(hostname)
mkdir -p "$W"/{state,spool,log}
mount -t tmpfs tmpfs /run
mkdir -p /run/munge
ip link set lo up
ip link add br0 type bridge
ip addr add $ADDRESS/24 dev br0
ip link set br0 up
# Slurm looks up its own host, whose address must not be the loopback's.
echo "$ADDRESS $HOST" | cat - /etc/hosts > "$W/hosts"
mount --bind "$W/hosts" /etc/hosts
head -c 1024 /dev/urandom > "$W/munge.key"
chmod 400 "$W/munge.key"
munged --force --key-file="$W/munge.key" --socket=/run/munge/munge.socket.2 --pid-file=/run/munge/munged.pid \
    --log-file="$W/log/munged" --seed-file="$W/munge.seed"
cat > "$W/slurm.conf" <<T
ClusterName=here
SlurmctldHost=$HOST($ADDRESS)
SlurmUser=root
AuthType=auth/munge
CryptoType=crypto/munge
StateSaveLocation=$W/state
SlurmdSpoolDir=$W/spool/%n
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd-%n.pid
SlurmctldLogFile=$W/log/slurmctld
SlurmdLogFile=$W/log/slurmd-%n
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=0
SelectType=select/cons_tres
MpiDefault=none
SlurmdParameters=config_overrides
ReturnToService=2
JobCompType=jobcomp/none
AccountingStorageType=accounting_storage/none
NodeName=n[1-$N] NodeHostname=$HOST NodeAddr=$ADDRESS Port=[17001-$((17000 + N))] CPUs=1 RealMemory=1000 State=UNKNOWN
PartitionName=load Nodes=ALL Default=YES MaxTime=10 State=UP
T
export SLURM_CONF=$W/slurm.conf
slurmctld -D > "$W/log/controller" 2>&1 &
for i in $(seq "$N"); do slurmd -D -N "n$i" > "$W/log/node$i" 2>&1 & done
idle() { timeout 3 sinfo -h -t idle -o %D 2> /dev/null; }
for _ in $(seq 300); do [ "$(idle)" != "$N" ] || break; sleep 0.1; done
[ "$(idle)" = "$N" ] || { sinfo; exit 1; }
status=0
"$@" || status=$?
exit $status
