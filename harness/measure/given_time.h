// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "harness/measure/awake_cores.h"
#include "harness/measure/lost_time.h"
#include "harness/worker/session.h"

namespace gauntlet {

/// How much of a call's time the machine gave to others, where what comes of the call depends on
/// how much it gets: training by the clock.
///
/// Unlike a race it watches while the solution runs, so that a solution can look disturbed by
/// having the kernel work for it (see LostTime). Whoever uses it must leave nothing to be gained by
/// that: a failure may become unmeasured, a success must never become more.
class GivenTime {
 public:
  /// More than this share of the processors' time with others: the call was not given its time.
  static constexpr double kMostLost = 0.1;

  explicit GivenTime(const Session& solution) : lost_time_(awake_, {&solution}) {}

  /// Waits until others leave the processors alone for a moment, no longer than `longest`. The
  /// solution must not run.
  void wait_for_quiet(std::chrono::duration<double> longest);

  /// The watch begins anew.
  void start() { lost_time_.start(); }

  /// Of the processors' time since then, what went to others: 0..1.
  double lost() { return lost_time_.share(); }

 private:
  AwakeCores awake_;
  LostTime lost_time_;
};

/// Why a call that was not given its time is not judged by what it `missed`.
std::string not_given(const std::string& missed, double lost);

}  // namespace gauntlet
