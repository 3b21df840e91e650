// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <utility>

#include "harness/worker/session.h"

namespace gauntlet {

/// What a limit of time may be exceeded by while others hold a solution up, in limits: a run ends
/// after four times of what it was allowed, whatever the machine does and whatever a solution does
/// to look like one that is held up.
inline constexpr int kHeldUp = 3;

/// What the calls of one solution may take together, in one check and in all checks of a cell: its
/// own time, that of being loaded, that of our answers to its callbacks and of all else that we do
/// around a call. Where every call is bounded by itself alone, thousands that stay just below their
/// limit take hours.
///
/// Time in which other programs held it up does not count, up to kHeldUp times what is allowed:
/// beside 18 programs on two cores, a solution that had used a processor for 0.35 s was told that
/// its calls had used 120 s.
class TimeBudget {
 public:
  using Duration = std::chrono::steady_clock::duration;

  TimeBudget(double check_seconds, double cell_seconds);

  /// Another one, for checks that are asked at the same time, by another thread: the cell's time is
  /// one, and both use of it.
  TimeBudget beside() const { return TimeBudget(check_.allowed, cell_); }

  /// A check begins: what the checks before it took counts for the cell only.
  void begin_check() { check_.used = check_.excused = {}; }

  /// For `held_up` of this time, others had the processors.
  void use(Duration time, Duration held_up = {});

  /// What the next call may take at most; 0 or less: there is to be no next call.
  Duration left() const { return std::min(check_.left(), cell_->now().left()); }

  /// For how much longer it may be held up on top of that.
  Duration excusable() const { return std::min(check_.excusable(), cell_->now().excusable()); }
  bool cell_is_used_up() const { return cell_->now().left() <= Duration(); }

  /// The end of whatever came too late, with how much was used and allowed.
  SolutionFailure used_up() const;

 private:
  struct Purse {
    Duration allowed;
    Duration used{};
    Duration excused{};
    Duration left() const { return allowed - used; }
    Duration excusable() const { return kHeldUp * allowed - excused; }
    void use(Duration time, Duration held_up);
  };
  class SharedPurse {
   public:
    explicit SharedPurse(Duration allowed) : purse_{allowed} {}
    void use(Duration time, Duration held_up);
    Purse now() const;

   private:
    mutable std::mutex mutex_;
    Purse purse_;
  };

  TimeBudget(Duration allowed, std::shared_ptr<SharedPurse> cell)
      : check_{allowed}, cell_(std::move(cell)) {}

  Purse check_;
  std::shared_ptr<SharedPurse> cell_;
};

TimeBudget::Duration duration_of(double seconds);

}  // namespace gauntlet
