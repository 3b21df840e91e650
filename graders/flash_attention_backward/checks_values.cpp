// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <iterator>

#include "harness/grading/grader.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

// Lengths of the flash-attention library's own tests, all of which leave partial tiles somewhere,
// and lengths around multiples of common tiles. The first shape and a later one come twice with
// different numbers, and then with nearly the same.
void all_elements(Probe& probe) {
  struct Lengths {
    std::int64_t q, k;
  };
  constexpr Lengths kKnown[] = {{113, 203}, {108, 256}, {127, 513}, {3, 799}, {239, 1}, {384, 256}};
  for (int n = 0; n < 6; ++n) {
    Rng rng = probe.begin_case(fmt::format("random {}", n));
    Lengths lengths = kKnown[rng.integer(0, 5)];
    if (n == 0 || n >= 3)
      lengths = {near_tile_edge(rng, 65, n == 0 ? 190 : 260),
                 near_tile_edge(rng, 65, n == 0 ? 190 : 260)};
    const Sizes sizes = drawn_sizes(rng, lengths.q, lengths.k);
    const bool causal = n % 2 == 1;  // drawn, it was the same six times in one run of 32
    for (int again = 0; again < (n % 3 == 0 ? 2 : 1); ++again) {
      Problem problem = random_problem(rng, sizes);
      problem.form.causal = causal;
      attend(problem);
      require_right(probe, problem);
      if (again == 0) continue;
      change_some(problem, rng);
      require_right(probe, problem);
    }
  }
}

// With all weight on one key dS is a difference of equal numbers: what is left must be rounding.
void single_key(Probe& probe) {
  Rng one = probe.begin_case("one key");
  Problem problem = random_problem(one, drawn_sizes(one, one.integer(1, 130), 1));
  attend(problem);
  require_right(probe, problem);

  Rng rng = probe.begin_case("one key has all the weight");
  Problem sharp =
      random_problem(rng, drawn_sizes(rng, rng.integer(100, 140), rng.integer(100, 140)));
  for (float& q : sharp.q.data) q *= 60;
  sharp.form.causal = rng.chance(0.5);
  attend(sharp);
  require_right(probe, sharp);
}

}  // namespace

std::vector<Check> values_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"all_elements", "any wrong element of dq, dk or dv", correctness, 4, critical},
       all_elements},
      {{"single_key", "gradients where there can be none", correctness, 1, major}, single_key},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
