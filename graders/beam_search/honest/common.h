// SPDX-License-Identifier: Apache-2.0
// What every variant refuses. Nothing here has external linkage: a self test is loaded beside a
// variant, and may have names like these.
#pragma once

#include <cmath>
#include <cstdint>

#include "contract.h"

namespace {

bool sizes_ok(const BeamArgs& a) {
  return a.batch >= 0 && a.beam >= 1 && a.vocab >= 1 && a.max_new >= 0 && a.min_new >= 0 &&
         a.min_new <= a.max_new && a.n_return >= 1 && a.n_return <= a.beam && a.eos_count >= 0 &&
         a.num_threads >= 1 && std::isfinite(a.alpha);
}

bool kinds_ok(const BeamArgs& a) {
  return a.penalty >= 0 && a.penalty <= 2 && a.policy >= 0 && a.policy <= 1 && a.stop >= 0 &&
         a.stop <= 2;
}

bool arrays_ok(const BeamArgs& a) {
  if (!a.prompt_lengths || !a.root_states || !a.root_log_probs) return false;
  if (!a.hypotheses || !a.lengths || !a.finished || !a.log_probs || !a.scores) return false;
  if (a.max_new > 0 && (!a.step || !a.tokens)) return false;
  return a.eos_count == 0 || a.eos;
}

// Of an empty batch too, which may come without the array.
bool eos_ok(const BeamArgs& a) {
  for (std::int64_t i = 0; a.eos && i < a.eos_count; ++i)
    if (a.eos[i] < 0 || a.eos[i] >= a.vocab) return false;
  return true;
}

}  // namespace
