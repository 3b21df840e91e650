#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A cluster of one node that grades while sbatch waits, for tests of what talks to Slurm. It is
# called by the names of Slurm's programs, and the folder $FAKE_SLURM says how it behaves:
#   fates     "JOB_TASK STATE" a line: that task does not run and is in STATE
#   max       the MaxArraySize
#   refuse    what sbatch says instead of taking a job
#   silent    the controller does not answer
#   accounts  there is accounting
# and holds what was seen: `sbatch.log` the calls, `queue` the tasks, `cancelled`.
set -euo pipefail
cd "$FAKE_SLURM"

submit() {
  [[ ! -e refuse ]] || { cat refuse >&2; exit 1; }
  printf '%s\n' "$*" >>sbatch.log
  local job tasks log last task state
  job=$(wc -l <sbatch.log)
  while [[ $1 == --* ]]; do
    case $1 in
      --array=*) tasks=${1#--array=0-} && tasks=${tasks%%%*} ;;
      --output=*) log=${1#--output=} && log=${log/\%A/$job} ;;
    esac
    shift
  done
  last=$tasks
  for ((task = 0; task <= last; ++task)); do
    state=$(sed -n "s/^${job}_$task //p" fates 2>/dev/null || true)
    if [[ -z $state ]]; then
      state=COMPLETED
      SLURM_ARRAY_TASK_ID=$task sh "$@" >"${log/\%a/$task}" 2>&1 || state=FAILED
    fi
    printf '%s|%s|%s|node1|None\n' "$job" "$task" "$state" >>queue
  done
  printf 'sbatch: a warning\n' >&2
  printf '%s\n' "$job"
}

case ${0##*/} in
  sbatch) submit "$@" ;;
  squeue)
    [[ ! -e silent ]] || { echo 'squeue: error: Unable to contact slurm controller' >&2; exit 1; }
    cat queue 2>/dev/null || true
    ;;
  sacct)
    [[ -e accounts ]] || { echo 'Slurm accounting storage is disabled' >&2; exit 1; }
    echo 'NODE_FAIL|node1'
    ;;
  scancel) printf '%s\n' "$*" >>cancelled ;;
  scontrol) printf 'MaxArraySize            = %s\n' "$(cat max 2>/dev/null || echo 1001)" ;;
esac
