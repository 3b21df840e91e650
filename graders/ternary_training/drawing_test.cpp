// SPDX-License-Identifier: Apache-2.0
#include "drawing.h"

#include <algorithm>
#include <doctest/doctest.h>

#include "domain.h"
#include "graders/kit/assignments.h"
#include "half.h"
#include "quantizer.h"

namespace {

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

bool every_scale_finite(const QuantizeProblem& problem, const std::vector<float>& weight) {
  const TernaryMatrix matrix = quantized(weight, problem.rows, problem.columns, problem.group);
  return std::ranges::all_of(matrix.scales, [](auto scale) { return scale < kHalfInfinity; });
}

}  // namespace

TEST_CASE("what is drawn of the domain has scales, also with another weight before it") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Rng rng(seed);
    for (const kit::Assignment& choice : kit::covering_assignments(quantize_domain(), rng)) {
      CAPTURE(choice.words());
      const QuantizeProblem problem = quantize_problem_of(choice, rng);
      REQUIRE(every_scale_finite(problem, problem.weight));
      for (int again = 0; again < 5; ++again)
        REQUIRE(every_scale_finite(problem, with_another_weight(choice, rng, problem.weight)));
    }
  }
}
