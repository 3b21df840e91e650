// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "harness/worker/held_up.h"
#include "harness/worker/time_budget.h"

namespace gauntlet {

/// The time that it lives counts for a solution: kernels run in it, or are prepared. Where others
/// held us up does not. A budget that is used up is told by the worker's next call.
class DeviceCharge {
 public:
  explicit DeviceCharge(TimeBudget* budget) : budget_(budget) {}
  ~DeviceCharge() {
    if (budget_ != nullptr)
      budget_->use(Clock::now() - since_, own_run_times().waited - waited_before_);
  }
  DeviceCharge(const DeviceCharge&) = delete;
  DeviceCharge& operator=(const DeviceCharge&) = delete;

 private:
  using Clock = std::chrono::steady_clock;

  TimeBudget* budget_;
  Clock::time_point since_ = Clock::now();
  std::chrono::nanoseconds waited_before_ = own_run_times().waited;
};

}  // namespace gauntlet
