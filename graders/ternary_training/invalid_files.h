// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "invalid_calls.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// A checkpoint as bytes, whole or damaged, and the text that is asked about.
struct FileProblem {
  TernaryModel model{};
  std::vector<std::uint8_t> bytes;
  Text token;
};

using InvalidForward = InvalidGroup<FileProblem, TernaryForwardArgs>;

/// What ternary_forward refuses: damaged checkpoints, above all.
std::vector<InvalidForward> invalid_forward_calls();

}  // namespace gauntlet::GAUNTLET_CHALLENGE
