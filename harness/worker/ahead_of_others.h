// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "harness/worker/process_tasks.h"

namespace gauntlet {

/// While it lives, a process that continues, and the calling thread, which has to stop it again,
/// come before all ordinary programs of the machine (SCHED_RR; the calling thread first of all, and
/// turns among equals, so that nobody who waits awake can lock others out for good). What else runs
/// then costs a lap the memory bandwidth that it takes, and no time slices of 3 to 4 ms, which are
/// several laps long.
///
/// Where the system does not allow it (it takes CAP_SYS_NICE, or RLIMIT_RTPRIO and the same user),
/// nothing changes.
class AheadOfOthers {
 public:
  explicit AheadOfOthers(const std::vector<Task>& threads);
  ~AheadOfOthers();
  AheadOfOthers(const AheadOfOthers&) = delete;
  AheadOfOthers& operator=(const AheadOfOthers&) = delete;

  /// The process goes on as an ordinary one, with all threads that it has by now.
  void fall_back(const std::vector<Task>& threads);

  /// Whether it has come first all the time: then no program of this machine has held it up.
  bool holds() const { return ahead_ && !fell_back_; }

  /// Whether the system lets the calling thread do it.
  static bool allowed();

 private:
  bool ahead_;
  bool fell_back_ = false;
};

}  // namespace gauntlet
