// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "problem.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// The four results, dense, in the order of the problem's arrays.
template <class Number>
struct Results {
  std::vector<Number> dq, dk, dv, delta;
};

/// The unit of all bounds, C u in the contract: 32 roundings to float32.
constexpr double kRoundings = 32 * 0x1p-24;

/// What a weight may lose to underflow: exp(s - lse) below the normal range of float32 may be 0.
constexpr double kUnderflow = 1e-30;

/// The right answer in float64 for the given o and lse, and for every element the bound that
/// tolerances are multiples of: the sum of the sizes of the terms it is made of.
struct Expected {
  Results<double> value;
  Results<double> bound;
};

Expected expect(const Problem& problem);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
