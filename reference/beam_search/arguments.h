// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which arguments are turned down.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "contract.h"

inline bool sizes_are_valid(const BeamArgs& args) {
  if (args.batch < 0 || args.beam < 1 || args.vocab < 1 || args.max_new < 0 || args.min_new < 0 ||
      args.eos_count < 0)
    return false;
  if (args.min_new > args.max_new || args.n_return < 1 || args.n_return > args.beam) return false;
  return args.num_threads >= 1 && std::isfinite(args.alpha);
}

inline bool kinds_are_valid(const BeamArgs& args) {
  return args.penalty >= BEAM_PENALTY_NONE && args.penalty <= BEAM_PENALTY_GNMT &&
         (args.policy == BEAM_POOLED || args.policy == BEAM_SEPARATE) &&
         args.stop >= BEAM_STOP_ESTIMATE && args.stop <= BEAM_STOP_BOUND;
}

inline bool pointers_are_valid(const BeamArgs& args) {
  if (args.prompt_lengths == nullptr || args.root_states == nullptr ||
      args.root_log_probs == nullptr || args.hypotheses == nullptr || args.lengths == nullptr ||
      args.finished == nullptr || args.log_probs == nullptr || args.scores == nullptr)
    return false;
  return args.max_new == 0 || (args.step != nullptr && args.tokens != nullptr);
}

// Whatever the batch is; only an empty one may come without the array.
inline bool eos_is_valid(const BeamArgs& args) {
  if (args.eos_count > 0 && args.eos == nullptr) return args.batch == 0;
  return std::all_of(args.eos, args.eos + args.eos_count,
                     [&](std::int32_t token) { return token >= 0 && token < args.vocab; });
}
