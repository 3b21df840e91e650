// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/ahead_of_others.h"

#include <sched.h>

namespace gauntlet {
namespace {

constexpr int kContestant = 1;  // the lowest that there is
constexpr int kJudge = 2;

bool run_as(pid_t thread, int policy, int priority) {
  sched_param param{};
  param.sched_priority = priority;
  return sched_setscheduler(thread, policy, &param) == 0;
}

}  // namespace

// Nobody comes before others unless we come before him.
AheadOfOthers::AheadOfOthers(const std::vector<Task>& threads)
    : ahead_(run_as(0, SCHED_RR, kJudge)) {
  if (!ahead_) return;
  for (const Task& thread : threads) run_as(thread.id, SCHED_RR, kContestant);
}

// The process is stopped by now; the next lap will have it come first anyhow.
AheadOfOthers::~AheadOfOthers() {
  if (ahead_) run_as(0, SCHED_OTHER, 0);
}

void AheadOfOthers::fall_back(const std::vector<Task>& threads) {
  if (!ahead_) return;
  fell_back_ = true;
  for (const Task& thread : threads) run_as(thread.id, SCHED_OTHER, 0);
}

bool AheadOfOthers::allowed() {
  return AheadOfOthers({}).ahead_;
}

}  // namespace gauntlet
