// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>

#include "harness/worker/session.h"

namespace gauntlet {

/// What the calls of one solution may take together, in one check and in all checks of a cell: its
/// own time, that of being loaded, that of our answers to its callbacks and of all else that we do
/// around a call. Where every call is bounded by itself alone, thousands that stay just below their
/// limit take hours.
class TimeBudget {
 public:
  using Duration = std::chrono::steady_clock::duration;

  TimeBudget(double check_seconds, double cell_seconds);

  /// A check begins: what the checks before it took counts for the cell only.
  void begin_check() { check_.used = {}; }

  void use(Duration time);

  /// What the next call may take at most; 0 or less: there is to be no next call.
  Duration left() const { return std::min(check_.left(), cell_.left()); }
  bool cell_is_used_up() const { return cell_.left() <= Duration(); }

  /// The end of whatever came too late, with how much was used and allowed.
  SolutionFailure used_up() const;

 private:
  struct Purse {
    Duration allowed;
    Duration used{};
    Duration left() const { return allowed - used; }
  };
  Purse check_;
  Purse cell_;
};

TimeBudget::Duration duration_of(double seconds);

}  // namespace gauntlet
