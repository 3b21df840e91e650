// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/run/runner.h"

namespace gauntlet {

/// Grades on this machine, `jobs` cells at a time, each in a process of its own: a grader that
/// crashes costs one cell (Verdict::broken, retried once), not the run. What cells need alike is
/// compiled before the first one begins. Timed checks of different cells never run at the same
/// time: they come last, one cell after the other.
class LocalRunner : public Runner {
 public:
  LocalRunner(GradingEnvironment environment, int jobs)
      : environment_(std::move(environment)), jobs_(jobs) {}

  std::vector<CellObservation> grade(const std::vector<CellRequest>& requests,
                                     const Progress& progress,
                                     const Finished& finished = {}) override;

  double seconds_ahead() const override { return ahead_; }

 private:
  GradingEnvironment environment_;
  int jobs_;
  double ahead_ = 0;
};

}  // namespace gauntlet
