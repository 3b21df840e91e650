// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>
#include <sys/types.h>
#include <vector>

#include "harness/worker/process_tasks.h"

namespace gauntlet {

/// Decides where the threads of a stopped process wake up: the main thread where it was last, every
/// other one on the next core. A kernel that thinks itself busy leaves a woken thread on the core
/// where it fell asleep, even when its neighbours sleep there too and other cores have nothing to
/// do: on two cores (Linux 6.18), 60 of 100 laps of 0.5 ms on two threads took three to thirty
/// times as long, and 2 of 100 with this.
///
/// The calling thread goes to the main thread's core, which is free again by the time when that has
/// something to tell.
///
/// What cannot be moved stays where it is: this is about noise alone. A grader that is root needs
/// CAP_SYS_NICE for the threads of another user, which containers often lack.
class SpreadThreads {
 public:
  /// Of all threads of a process, which continues between constructor and destructor.
  explicit SpreadThreads(const std::vector<Task>& threads);

  /// Gives the threads, which stay where they are for now, all their cores back. Until then those
  /// besides the main thread see one: microseconds.
  ~SpreadThreads();
  SpreadThreads(const SpreadThreads&) = delete;
  SpreadThreads& operator=(const SpreadThreads&) = delete;

  /// True when there are threads besides the main one.
  bool any() const { return !moved_.empty(); }

 private:
  struct Moved {
    pid_t thread;
    cpu_set_t cores;  // on which it may run
  };

  void move(pid_t thread, int core);

  std::vector<Moved> moved_;
};

}  // namespace gauntlet
