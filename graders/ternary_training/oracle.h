#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "checkpoint.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Logits of one window in float64, and what float32 may be off by.
struct WantedLogits {
  std::vector<double> logits;   // [tokens][vocab]
  std::vector<double> allowed;  // the same
};

/// The contract's formulas, one after the other, in float64 and plain loops. Shares nothing with
/// Network, which it is held against.
WantedLogits wanted_logits(const Checkpoint& checkpoint, std::span<const std::uint16_t> token);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
