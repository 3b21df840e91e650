// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "contract.h"
#include "harness/grading/probe.h"
#include "problem.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// What a solution wrote. lse and row_max are empty where they were not asked for.
struct Answer {
  std::vector<std::int32_t> indices;
  std::vector<float> probs, lse, row_max;
};

/// A call with everything named, ready to run. It points into the problem, which must outlive it.
struct SoftmaxTopkCall : Call<SoftmaxTopkArgs> {
  explicit SoftmaxTopkCall(const Problem& problem);
  Answer answer() const;  // of the last run

  // What outputs hold before the call; empty: poison.
  std::vector<std::int32_t> old_indices;
  std::vector<float> old_probs, old_lse, old_row_max;

  std::optional<Output<std::int32_t>> indices;
  std::optional<Output<float>> probs, lse, row_max;
};

bool same_bits(const Answer& a, const Answer& b);

/// Runs the call, which must succeed.
Answer ask(Probe& probe, const Problem& problem);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
