// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <sys/types.h>

#include "harness/sandbox/fd.h"

namespace gauntlet {

/// What the scheduler has counted for one thread since it was born: how long it ran, and how long
/// it was ready to run while others had the processors.
struct RunTimes {
  std::chrono::nanoseconds ran{};
  std::chrono::nanoseconds waited{};
};

/// The parts of a file schedstat; zeros of what is none.
RunTimes parsed_run_times(const std::string& schedstat);

/// Of a process's main thread, read through a descriptor that is opened while nobody may influence
/// whether that succeeds. Zeros where the kernel does not count, and once the process is gone.
class MainThreadTimes {
 public:
  explicit MainThreadTimes(pid_t pid);
  RunTimes now() const;

 private:
  Fd file_;
};

/// Of the calling thread, some microseconds ago: a wait of more than these is told at once.
RunTimes own_run_times();

/// How long others held a thread up that waited for a processor: programs that are not of its
/// process. Whenever it waited for a thread of its own process, that one ran; what these `beside`
/// it ran is taken off, all of it, so that nobody is held up by threads of his own.
std::chrono::nanoseconds held_up(std::chrono::nanoseconds waited, std::chrono::nanoseconds beside);

}  // namespace gauntlet
