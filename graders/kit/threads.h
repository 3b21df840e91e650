// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "harness/grading/probe.h"

namespace gauntlet::kit {

/// Has `calls` made, and ends the check when more than `threads` threads were seen at work at the
/// same moment. `again` is that of Session::watch_threads.
ThreadUse watched(Probe& probe, int threads, const std::function<void()>& calls, bool again);

/// Has `ask` make calls, and judge them, that may use so many threads, in a fresh process, and ends
/// the check when more than these were at work at the same moment. Threads may live and sleep.
///
/// What is counted is what was seen (harness/worker/threads_at_work.h), so that nobody is blamed
/// for what other programs do. For the same reason it may be missed: the calls are made until three
/// times nothing was seen and the solution had as much of the processors as it could have used, and
/// no more than it may; twelve times at most, or three where it worked as long in these as the
/// reference in twelve.
///
/// A call of `ask` is to take the reference some 20 ms of one thread: on most machines the kernel
/// accounts every 4 ms what a thread uses, and two accounts of each are wanted. `less` is a smaller
/// one, for solutions so slow that it takes them as long: it is tried first, and where it does,
/// `ask` follows once, at the end. `earlier` is asked first, unwatched: with more threads, which a
/// solution may keep, and at last with so many, so that those have had the time to fall asleep.
void require_thread_limit(Probe& probe, int threads, const std::function<void()>& ask,
                          const std::function<void()>& less = {},
                          const std::function<void()>& earlier = {});

}  // namespace gauntlet::kit
