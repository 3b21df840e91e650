// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <sys/types.h>
#include <vector>

#include "harness/worker/session.h"

namespace gauntlet {

/// One thread of a running process, as the kernel tells it.
struct ThreadLook {
  pid_t id = 0;
  std::uint64_t sleeps = 0;         // how often it has gone to sleep so far
  bool ready = false;               // it ran or waited for a processor, after that was counted
  std::chrono::nanoseconds used{};  // of a processor; if it runs, up to the last clock tick
};

/// How many threads of a process were at work at the same moment: a number that it was seen to
/// reach, never one that it may have reached. There are two signs, and neither has anything against
/// threads that sleep, or that wake up, find nothing to do and sleep again:
///
///   - all threads together used more processor time than so many can in the time that passed, by
///     half a thread's worth and by kAtWork for each thread that there is: many may wake up at
///     once;
///   - so many threads did not sleep for a while, and each of them was told to have used kAtWork of
///     a processor in the first part of that while and again in the second. This one needs no more
///     than one core, and a machine with other things to do. One part would not do: of two threads
///     that work in turn, the first may be about to sleep, and held up, while the second works.
///
/// Of a thread that runs, the kernel tells what it has used up to a clock tick ago. What it tells
/// later than in a look was used since the thread last slept, and no earlier than by one that ran
/// at the time of that look: it was at work then or after it, which is all that is needed.
class ThreadsAtWork {
 public:
  using Duration = std::chrono::nanoseconds;

  /// Threads that find nothing to do use some 50 us, of which page faults are most.
  static constexpr Duration kAtWork = std::chrono::microseconds(500);
  /// A shorter time than this is filled by threads that wake up.
  static constexpr Duration kShortest = std::chrono::milliseconds(2);
  /// Threads beyond are not looked at: the cost is bounded, and nobody may use so many.
  static constexpr std::size_t kMostThreads = 64;

  /// The process goes on: threads that were stopped count as having slept.
  void go() { busy_.clear(); }

  /// All its threads together, of which there are `alive` now, have used `processor` since go(),
  /// which was `passed` ago. The last one is what they did until they were stopped.
  void see(Duration passed, Duration processor, std::size_t alive);
  void see(const std::vector<ThreadLook>& threads);
  void stop(Duration passed, Duration processor, std::size_t alive);

  const ThreadUse& use() const { return use_; }

 private:
  /// A thread since it was last asleep: what it had used at look `first`, and at those after it.
  struct Busy {
    std::uint64_t sleeps;
    std::size_t first;
    std::vector<Duration> used;
  };
  int together_since(std::size_t look) const;

  ThreadUse use_;
  std::size_t looks_ = 0;
  std::map<pid_t, Busy> busy_;
};

}  // namespace gauntlet
