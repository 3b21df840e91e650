// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "harness/grading/probe.h"

namespace gauntlet::kit {

/// While it lives, the solution's process is one to which teams are offered, see
/// Session::offer_teams(): a fresh one at its beginning, and another at its end.
class TeamsOffered {
 public:
  explicit TeamsOffered(Probe& probe);
  ~TeamsOffered();
  TeamsOffered(const TeamsOffered&) = delete;
  TeamsOffered& operator=(const TeamsOffered&) = delete;

 private:
  Probe& probe_;
};

/// Has `calls` made, and ends the check when more than `threads` threads were seen at work at the
/// same moment. `again` is that of Session::watch_threads.
ThreadUse watched(Probe& probe, int threads, const std::function<void()>& calls, bool again);

/// Makes calls with so many threads, and judges them.
using AskWith = std::function<void(int threads)>;

/// Has `ask` make calls that may use so many threads, in a fresh process to which teams are
/// offered, and ends the check when more than these were at work at the same moment. Threads may
/// live and sleep.
///
/// What is counted is what was seen (harness/worker/threads_at_work.h), so that nobody is blamed
/// for what other programs do. For the same reason it may be missed: the calls are made until three
/// times nothing was seen and the solution had as much of the processors as it could have used, and
/// no more than it may; twelve times at most, or three where it worked as long in these as the
/// reference in twelve. Before that, unwatched, there is one with more threads, which a solution
/// may keep, or their number, and one with so many, so that others have had the time to fall
/// asleep.
///
/// A call of `ask` is to take the reference some 20 ms of one thread: on most machines the kernel
/// accounts every 4 ms what a thread uses, and two accounts of each are wanted. `less` is a smaller
/// one, for solutions so slow that it takes them as long: it is tried first, and where it does,
/// `ask` follows once, at the end.
void require_thread_limit(Probe& probe, int threads, const AskWith& ask, const AskWith& less = {});

}  // namespace gauntlet::kit
