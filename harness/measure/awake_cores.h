// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <stop_token>
#include <thread>
#include <vector>

namespace gauntlet {

/// While it lives, every core of this process runs a thread that gives way to everybody
/// (SCHED_IDLE) and never sleeps. Virtual machines wake a sleeping core late, and some kernels
/// leave a new or woken thread on its creator's core until the next clock tick (4 ms) rather than
/// wake another; a short lap on several threads then measures that and not the solution. Measured
/// on two cores of such a machine, laps of 1.5 ms on a thread pool: most disturbed without, 1 in
/// 100 with it.
class AwakeCores {
 public:
  AwakeCores();

  /// How many cores are kept awake: fewer than there are where threads may not give way.
  int count() const { return awake_; }

  /// Brings what the threads have used of this process's time up to date. For a thread that runs
  /// the kernel does so at clock ticks only (4 ms), unless it is asked for that thread alone.
  void account();

 private:
  std::atomic<int> awake_ = 0;
  std::vector<std::jthread> threads_;  // stopped and joined by their destructors
};

}  // namespace gauntlet
