// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/spread_threads.h"

#include <algorithm>

namespace gauntlet {
namespace {

cpu_set_t only(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  return set;
}

std::vector<int> own_cores() {
  cpu_set_t ours;
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof ours, &ours) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &ours)) cores.push_back(core);
  return cores;
}

}  // namespace

SpreadThreads::SpreadThreads(const std::vector<Task>& threads) {
  if (threads.size() < 2) return;
  const std::vector<int> cores = own_cores();
  const int mains = threads.front().core;  // the kernel lists the main one first
  auto core = std::find(cores.begin(), cores.end(), mains);
  if (core == cores.end()) return;
  for (std::size_t i = 1; i < threads.size(); ++i) {
    if (++core == cores.end()) core = cores.begin();
    move(threads[i].id, *core);
  }
  move(0, mains);
}

SpreadThreads::~SpreadThreads() {
  for (const Moved& moved : moved_)
    sched_setaffinity(moved.thread, sizeof moved.cores, &moved.cores);
}

void SpreadThreads::move(pid_t thread, int core) {
  Moved moved{thread, {}};
  const cpu_set_t there = only(core);
  if (sched_getaffinity(thread, sizeof moved.cores, &moved.cores) == 0 &&
      CPU_ISSET(core, &moved.cores) && sched_setaffinity(thread, sizeof there, &there) == 0)
    moved_.push_back(moved);
}

}  // namespace gauntlet
