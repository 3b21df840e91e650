// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/time_budget.h"

#include <fmt/format.h>

namespace gauntlet {
TimeBudget::Duration duration_of(double seconds) {
  return std::chrono::duration_cast<TimeBudget::Duration>(std::chrono::duration<double>(seconds));
}

TimeBudget::TimeBudget(double check_seconds, double cell_seconds)
    : TimeBudget(duration_of(check_seconds),
                 std::make_shared<SharedPurse>(duration_of(cell_seconds))) {}

void TimeBudget::Purse::use(Duration time, Duration held_up) {
  const Duration excuse = std::max(Duration(), std::min({held_up, time, excusable()}));
  excused += excuse;
  used += time - excuse;
}

void TimeBudget::SharedPurse::use(Duration time, Duration held_up) {
  const std::lock_guard lock(mutex_);
  purse_.use(time, held_up);
}

TimeBudget::Purse TimeBudget::SharedPurse::now() const {
  const std::lock_guard lock(mutex_);
  return purse_;
}

void TimeBudget::use(Duration time, Duration held_up) {
  check_.use(time, held_up);
  cell_->use(time, held_up);
}

SolutionFailure TimeBudget::used_up() const {
  const bool of_cell = cell_is_used_up();
  const Purse empty = of_cell ? cell_->now() : check_;
  const auto seconds = [](Duration time) { return std::chrono::duration<double>(time).count(); };
  return {Verdict::timed_out,
          fmt::format("its calls have used {:.1f} s of the {:g} s that {} may take together",
                      seconds(empty.used), seconds(empty.allowed),
                      of_cell ? "those of all checks" : "those of one check")};
}

}  // namespace gauntlet
