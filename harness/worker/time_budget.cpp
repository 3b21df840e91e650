// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/time_budget.h"

#include <fmt/format.h>

namespace gauntlet {
TimeBudget::Duration duration_of(double seconds) {
  return std::chrono::duration_cast<TimeBudget::Duration>(std::chrono::duration<double>(seconds));
}

TimeBudget::TimeBudget(double check_seconds, double cell_seconds)
    : check_{duration_of(check_seconds)}, cell_{duration_of(cell_seconds)} {}

void TimeBudget::Purse::use(Duration time, Duration held_up) {
  const Duration excuse = std::max(Duration(), std::min({held_up, time, excusable()}));
  excused += excuse;
  used += time - excuse;
}

void TimeBudget::use(Duration time, Duration held_up) {
  check_.use(time, held_up);
  cell_.use(time, held_up);
}

SolutionFailure TimeBudget::used_up() const {
  const Purse& empty = cell_is_used_up() ? cell_ : check_;
  const auto seconds = [](Duration time) { return std::chrono::duration<double>(time).count(); };
  return {Verdict::timed_out,
          fmt::format("its calls have used {:.1f} s of the {:g} s that {} may take together",
                      seconds(empty.used), seconds(empty.allowed),
                      &empty == &cell_ ? "those of all checks" : "those of one check")};
}

}  // namespace gauntlet
