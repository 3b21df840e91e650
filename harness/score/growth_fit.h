// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "harness/core/stats.h"
#include "harness/store/observation.h"

namespace gauntlet {

/// e of cost = c N^e.
struct Exponent {
  double value = 0;
  Interval interval;  // 95 %
};

/// By least squares on logarithms; the interval is Student's, from how far the points lie from the
/// line. Nothing for fewer than three points, which have no such distance.
std::optional<Exponent> fitted_exponent(const Growth& growth);

/// Memory has no noise of that kind, but some that does not belong to the solution: pages that are
/// only partly used, and what libraries and threads take whatever N is.
struct WorkspaceGrowth {
  bool visible = false;  // the sizes differ by more than such pages
  Interval exponent;     // its high end is infinite where all may be libraries and threads
};

/// From the first and the last size; nothing for fewer than two.
std::optional<WorkspaceGrowth> workspace_growth(const Growth& growth);

}  // namespace gauntlet
