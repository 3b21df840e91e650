// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "harness/grading/cell.h"

namespace gauntlet {

using Finished = std::function<void(const GradedCell&)>;

/// Where cells are graded: on this machine (LocalRunner), on a cluster (SlurmRunner), or wherever a
/// process can read a request (see cell_request_json.h) and run `gauntlet run-cell`. A runner
/// decides nothing about grades and keeps none.
class Runner {
 public:
  virtual ~Runner() = default;

  /// Grades every request; observations come back in the order of the requests. `finished` sees
  /// each as soon as it is there, so that an interrupted run loses only what was being graded. A
  /// cell that could not be graded through no fault of its own comes back with broken checks.
  virtual std::vector<CellObservation> grade(const std::vector<CellRequest>& requests,
                                             const Progress& progress,
                                             const Finished& finished = {}) = 0;

  /// Seconds that were spent for all cells together, before the first one began.
  virtual double seconds_ahead() const { return 0; }
};

}  // namespace gauntlet
