// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "call.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// How far each element may be off, from the oracle's bounds; README.md derives it. A bound of 0
/// asks for 0.
std::vector<double> allowed_for(std::vector<double> bounds);

/// What one problem gives within the bounds of another one that gives the same, or within its own
/// where that is more: where a row has one key and an element of it moved to 0, the other one's
/// bound is 0, and what float64 leaves of a difference is not.
Expected with_bounds_of(Expected expected, const Expected& other);

/// Asks and compares with the oracle.
Answer require_right(Probe& probe, const Problem& problem, const CallOptions& options = {});

/// Ends the check unless every element that was asked for is as close to the expected one as
/// allowed_for says.
void require_close(Probe& probe, const Problem& problem, const Answer& got,
                   const Expected& expected);

/// Ends the check unless both answers are equal in every element, -0 and +0 being equal.
void require_equal(Probe& probe, const Problem& problem, const Answer& got, const Answer& want);

/// Sums over whole tensors may be off by this, relative to the sum of the sizes of their terms,
/// most of whose errors cancel. Honest variants use up to 0.03 of it.
constexpr double kIdentity = 2e-6;

/// A sum and the sum of the sizes of its terms.
struct Sum {
  double value = 0;
  double size = 0;

  void add(double term);
};

Sum inner_product(std::span<const float> a, std::span<const float> b);

/// Two sums that a law makes equal and that are not.
std::optional<Miss> unequal_sums(const std::string& name, const Sum& got, const Sum& want);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
