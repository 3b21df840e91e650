#pragma once

#include <vector>

#include "problem.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// The four results, dense, in the order of the problem's arrays.
template <class Number>
struct Results {
  std::vector<Number> dq, dk, dv, delta;
};

/// The right answer in float64 for the given o and lse, and for every element the sum of the sizes
/// of the terms it is made of: an error of kRoundings * kUnit * bound is what honest float32 may
/// have.
struct Expected {
  Results<double> value;
  Results<double> bound;
};

Expected expected_of(const Problem& problem);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
