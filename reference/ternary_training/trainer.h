// SPDX-License-Identifier: Apache-2.0
#pragma once

// Training from the first weights to the checkpoint.
#include <cstdint>

#include "contract.h"

namespace ternary {

struct Outcome {
  double train_nll;
  double held_out_nll;
  std::int64_t tokens_seen;
};

/// Trains and writes the checkpoint. The arguments have been judged.
Outcome train(const TernaryTrainArgs& args);

}  // namespace ternary
