// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "problem.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// The right answer in float64, and for every element the bound that tolerances are multiples of.
using Expected = kit::AttentionForward;

inline Expected expect(const Problem& problem) {
  return kit::attention_forward(problem.view());
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
