#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Asks for a reward again and again, as training does, and looks at what is left behind:
#
#   tests/run/reward_loop.sh [CALLS [AT_ONCE [SUBMISSION CHALLENGE]]]
#
# CALLS (default 4) calls, AT_ONCE (default 2) at a time, with one seed; then every line has to say
# the same, and there have to be no more files, processes, mounts and shared memory than before, nor
# much more memory of the kernel's. For a claim about a thousand calls: 1000.
# GAUNTLET_PROGRAM names another gauntlet.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
gauntlet=${GAUNTLET_PROGRAM:-$root/build/release/bin/gauntlet}
calls=${1:-4} at_once=${2:-2} submission=${3:-} challenge=${4:-layernorm_backward}

fail() { printf 'reward loop: %s\n' "$*" >&2; exit 1; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/tmp" "$scratch/answers"
# Where none is named: one that gives up at once, so that many calls take little time.
if [[ -z $submission ]]; then
  submission=$scratch/quick
  mkdir -p "$submission/$challenge"
  printf 'display_name: A sample that answers nothing\n' > "$submission/model.yaml"
  printf '#include <cstdlib>\n#include "contract.h"\n' > "$submission/$challenge/solution.cpp"
  sed -n 's/^int64_t \([a-z_]*\)(const \([A-Za-z]*\)\* args);/extern "C" int64_t \1(const \2*) { abort(); }/p' \
    "$root/challenges/$challenge/contract.h" >> "$submission/$challenge/solution.cpp"
fi

one_call() {
  TMPDIR=$scratch/tmp "$gauntlet" reward "$submission" -c "$challenge" --no-speed --seed 1 --json \
    --quiet > "$scratch/answers/$1" 2> "$scratch/answers/$1.err" ||
    { cat "$scratch/answers/$1.err" >&2; return 1; }
}
# What there is now, a line each: files, processes of ours, mounts, memory that nobody unlinked.
counts() {
  printf 'files in TMPDIR %s\n' "$(find "$scratch/tmp" | wc -l)"
  printf 'files in the cache %s\n' "$(find "$root/build/cache" 2> /dev/null | wc -l)"
  printf 'processes %s\n' "$(pgrep -f -c "reward $submission" || true)"
  printf 'mounts %s\n' "$(wc -l < /proc/self/mounts)"
  printf 'shared memory %s\n' "$(find /dev/shm | wc -l)"
  printf 'segments %s\n' "$(wc -l < /proc/sysvipc/shm)"
}
# What no process has and the kernel cannot take back, in MiB: here a leak of namespaces, memory
# files and their like would show. What other programs use meanwhile does not.
kernel_memory() {
  awk '/^(Shmem|SUnreclaim|KernelStack|Percpu):/ { sum += $2 } END { print int(sum / 1024) }' \
    /proc/meminfo
}

one_call first || fail 'the first call has no reward'  # what is made once is there now
before=$(counts) memory_before=$(kernel_memory)
begun=$SECONDS running=0
for ((call = 1; call <= calls; ++call)); do
  if ((running >= at_once)); then
    wait -n || fail 'a call has no reward'
    running=$((running - 1))
  fi
  one_call "$call" &
  running=$((running + 1))
  if ((call % 100 == 0)); then echo "$call calls in $((SECONDS - begun)) s"; fi
done
while ((running-- > 0)); do wait -n || fail 'a call has no reward'; done
sleep 1  # the kernel ends namespaces behind the processes
after=$(counts) memory_after=$(kernel_memory)

for answer in "$scratch"/answers/*[0-9]; do
  cmp -s "$scratch/answers/first" "$answer" ||
    fail "two calls with one seed differ: $(diff "$scratch/answers/first" "$answer" | head -4)"
done
[[ $before == "$after" ]] ||
  fail "something is left behind: $(diff <(echo "$before") <(echo "$after") | grep '^[<>]' | tr '\n' ' ')"
((memory_after < memory_before + 64)) ||
  fail "the kernel held $memory_before MiB before and holds $memory_after now"
echo "$calls calls, $at_once at a time, in $((SECONDS - begun)) s: one answer, nothing left behind," \
  "the kernel held $memory_before MiB before and $memory_after after"
