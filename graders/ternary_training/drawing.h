// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "graders/kit/domain.h"
#include "graders/kit/inputs.h"
#include "problem.h"

/// What the classes of the domains of matrices and layers mean: problems drawn of an assignment.
namespace gauntlet::GAUNTLET_CHALLENGE {

QuantizeProblem quantize_problem_of(const kit::Assignment& choice, Rng& rng);
LinearProblem linear_problem_of(const kit::Assignment& choice, Rng& rng);

/// The weights of that problem but for one, which keep a finite scale in every group.
std::vector<float> with_another_weight(const kit::Assignment& choice, Rng& rng,
                                       std::vector<float> weight);

/// In half of the cases one at an end, which is the first to be overlooked.
template <class Number>
Number& any_of(Rng& rng, std::vector<Number>& all) {
  const std::int64_t last = std::ssize(all) - 1;
  const std::int64_t at =
      rng.chance(0.5) ? rng.integer(0, last) : kit::one_of(rng, {std::int64_t{0}, last});
  return all[static_cast<std::size_t>(at)];
}

/// Threads and the places of arrays, of the three functions that do not train.
kit::CallOptions options_of(const kit::Assignment& choice);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
