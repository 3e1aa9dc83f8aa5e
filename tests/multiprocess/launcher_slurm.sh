#!/usr/bin/env bash
# launcher_slurm.sh ACTOR: srun of a Slurm cluster of this one machine, made here and ended here, starts
# one job by PMIx; without PMIx it is an error. Exits with 77 where Slurm is not installed.
set -euo pipefail
actor=$1
for program in slurmctld slurmd srun munged; do
  PATH=$PATH:/usr/sbin command -v "$program" >/dev/null || { echo "no $program here: skipped"; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "slurmd needs root: skipped"; exit 77; }
PATH=$PATH:/usr/sbin

place=$(mktemp -d)
pids=()
ready=
# A step that is not over when the daemons end looks for them for ever.
end_steps() {
  local left
  timeout 10 squeue -h -o %A | xargs -r timeout 10 scancel --quiet --full || true
  for _ in $(seq 300); do
    left=$(timeout 10 squeue -h; find "$place/spool" -name '*_[0-9]*.[0-9]')
    [ -n "$left" ] || return 0
    sleep 0.1
  done
  echo "this step does not end: $left"
  return 1
}
finish() {
  local status=$?
  [ -z "$ready" ] || end_steps || status=1
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
  rm -rf "$place"
  exit $status
}
trap finish EXIT

chmod 755 "$place"
mkdir "$place/state" "$place/spool" "$place/munge"
chmod 755 "$place/munge"
(umask 077 && head -c 128 /dev/urandom >"$place/munge/key")
munged --foreground --force --key-file="$place/munge/key" --socket="$place/munge/socket" \
  --pid-file="$place/munge/pid" --seed-file="$place/munge/seed" --log-file="$place/munge/log" >/dev/null 2>&1 &
pids+=($!)

host=$(hostname -s)
read -r -a ports < <(python3 -c '
import socket
taken = [socket.socket() for _ in range(2)]
for each in taken: each.bind(("127.0.0.1", 0))
print(*(each.getsockname()[1] for each in taken))')
export SLURM_CONF=$place/slurm.conf
cat >"$SLURM_CONF" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$place/munge/socket
StateSaveLocation=$place/state
SlurmdSpoolDir=$place/spool
SlurmctldPidFile=$place/slurmctld.pid
SlurmdPidFile=$place/slurmd.pid
SlurmctldPort=${ports[0]}
SlurmdPort=${ports[1]}
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
MpiDefault=none
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
# Nothing here needs control groups; to find out of which kind they are fails where there are none.
echo "CgroupPlugin=cgroup/v1" >"$place/cgroup.conf"
for _ in $(seq 100); do [ -S "$place/munge/socket" ] && break; sleep 0.1; done
slurmctld -D >"$place/slurmctld.log" 2>&1 &
pids+=($!)
slurmd -D >"$place/slurmd.log" 2>&1 &
pids+=($!)
# sinfo takes long to say that nobody answers: the time counts, not the attempts.
while [ $SECONDS -lt 60 ]; do
  grep -q idle <<<"$(sinfo -h -o %T 2>/dev/null)" && ready=yes && break
  sleep 0.1
done
if [ -z "$ready" ]; then
  echo "Slurm does not come up here: skipped"
  tail -n 5 "$place/slurmctld.log" "$place/slurmd.log"
  exit 77
fi

run() { timeout 60 srun --quiet --overcommit "$@"; }
fail() { echo "$*"; exit 1; }

for ranks in 1 2 4; do
  out=$(run --mpi=pmix -n "$ranks" "$actor" tag describe)
  for ((i = 0; i < ranks; ++i)); do
    [ "$(grep -c "^rank $i of $ranks " <<<"$out")" = 1 ] || fail "no one job of $ranks: $out"
  done
done
run --mpi=pmix -n 4 "$actor" tag exchange >/dev/null || fail "exchange fails"
run --mpi=pmix -n 3 "$actor" tag nic || fail "no NIC"
set +e
run --mpi=pmix -n 3 "$actor" tag die 1 9 >/dev/null 2>&1
[ $? = 137 ] || fail "srun does not say that a rank was killed"
without=$(run -n 2 "$actor" tag describe 2>&1)
[ $? != 0 ] || fail "without PMIx it goes on: $without"
grep -q "start it with srun --mpi=pmix" <<<"$without" || fail "the remedy is missing: $without"
