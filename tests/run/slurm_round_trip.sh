#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Starts a Slurm cluster of one node on the loopback interface, grades samples on it while jobs are
# killed and the node fails, and compares with what this machine grades by itself. A few minutes, by
# hand, as root or not:
#
#   tests/run/slurm_round_trip.sh            wants slurm-wlm, munge and python3 to be installed
#
# GAUNTLET_PROGRAM names another gauntlet. Everything lies in a scratch folder and is gone at the end.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
gauntlet=${GAUNTLET_PROGRAM:-$root/build/release/bin/gauntlet}
challenges=(-c layernorm_backward -c softmax_topk)

skip() { printf '%s; this test is skipped\n' "$*"; exit 0; }
fail() { printf 'slurm round trip: %s\n' "$*" >&2; exit 1; }

export PATH=$PATH:/usr/sbin:/sbin
for program in munged slurmctld slurmd sbatch squeue python3; do
  command -v "$program" >/dev/null || skip "there is no $program (apt-get install slurm-wlm munge python3)"
done
if [[ ! -x $gauntlet ]]; then
  echo "$gauntlet is not built; run ./gauntlet list first" >&2
  exit 5
fi

scratch=$(mktemp -d)
started=()
stop() {
  # Only what was started here, the last first: a run that is left ends its jobs while there is a
  # cluster.
  for ((i = ${#started[@]} - 1; i >= 0; --i)); do
    kill "${started[i]}" 2>/dev/null && wait "${started[i]}" 2>/dev/null || true
  done
  rm -rf "$scratch"
}
trap stop EXIT

start() {  # LOG COMMAND...
  local log=$scratch/$1.log
  shift
  "$@" >"$log" 2>&1 &
  started+=($!)
}

until_true() {  # SECONDS COMMAND...
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < end)) || return 1
    sleep 0.2
  done
}

chmod 711 "$scratch"  # as munged wants it
mkdir "$scratch"/{munge,state,spool}
chmod 700 "$scratch"/munge
(umask 077 && head -c 1024 /dev/urandom >"$scratch/munge/key")
start munged munged --foreground --key-file="$scratch/munge/key" --socket="$scratch/munge.socket" \
  --pid-file="$scratch/munge/pid" --seed-file="$scratch/munge/seed" --num-threads=2
until_true 20 munge --socket="$scratch/munge.socket" --no-input ||
  fail "munged does not answer: $(tail -n 3 "$scratch/munged.log")"

host=$(hostname -s)
user=$(id -un)
port=$((20000 + RANDOM % 10000))
export SLURM_CONF=$scratch/slurm.conf
cat >"$SLURM_CONF" <<CONF
ClusterName=gauntlet
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$scratch/munge.socket
CredType=cred/munge
StateSaveLocation=$scratch/state
SlurmdSpoolDir=$scratch/spool
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmdPidFile=$scratch/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MaxArraySize=4
KillWait=5
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) Features=loopback State=UNKNOWN
PartitionName=test Nodes=$host Default=YES MaxTime=30 State=UP
CONF
start slurmctld slurmctld -D -f "$SLURM_CONF"
start slurmd slurmd -D -f "$SLURM_CONF"
node_is_idle() { sinfo --noheader --format=%T | grep -qx idle; }
until_true 60 node_is_idle ||
  fail "the node does not come up: $(tail -n 3 "$scratch"/slurm{ctld,d}.log)"

# The same seed gives the same inputs; races take no time to be prolonged.
# Takes the place of the shell that calls it, so that a signal to that reaches gauntlet.
grade() {  # RESULTS WORD...
  local results=$1
  shift
  exec "$gauntlet" --results "$results" --seed 7 --patience 0 --allow-weaker-sandbox grade textbook \
    "${challenges[@]}" "$@"
}
on_cluster() { grade "$1" --runner slurm --slurm-partition test --slurm-constraint loopback; }
running_task() { squeue --noheader --array --states=RUNNING --format=%i | head -n 1; }
has_running_task() { [[ -n $(running_task) ]]; }

echo "here"
(grade "$scratch/local") >"$scratch/local.txt" 2>&1 || fail "$(tail -n 5 "$scratch/local.txt")"

echo "on the cluster, of which a job is killed and whose node then fails"
on_cluster "$scratch/cluster" >"$scratch/cluster.txt" 2>&1 &
run=$!
started+=("$run")
until_true 60 has_running_task || fail "no job runs: $(tail -n 5 "$scratch/cluster.txt")"
scancel "$(running_task)"
until_true 60 grep -q 'was lost: CANCELLED' "$scratch/cluster.txt" || fail "nobody noticed the kill"
until_true 60 has_running_task || fail "no further job runs"
scontrol update "nodename=$host" state=down reason=test
until_true 60 grep -q 'was lost: NODE_FAIL' "$scratch/cluster.txt" || fail "nobody noticed the failure"
scontrol update "nodename=$host" state=resume 2>/dev/null || true  # it may be back by itself
wait "$run" || fail "the run ended with $?: $(tail -n 5 "$scratch/cluster.txt")"
! find "$root/build/cache/slurm" -mindepth 1 -name 'run-*' -newer "$SLURM_CONF" | grep -q . ||
  fail "a folder of the run was left"

python3 "$root/tests/run/same_grades.py" "$scratch/local" "$scratch/cluster" loopback ||
  fail "the cluster graded otherwise"

echo "an interrupted run leaves no jobs"
on_cluster "$scratch/interrupted" >"$scratch/interrupted.txt" 2>&1 &
run=$!
started+=("$run")
until_true 60 has_running_task || fail "no job runs"
kill -TERM "$run"
wait "$run" && fail "the run was not interrupted"
no_task_left() { [[ -z $(squeue --noheader --array --states=PENDING,RUNNING) ]]; }
until_true 60 no_task_left || fail "jobs are left: $(squeue)"

echo "slurm round trip: the same grades"
