// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <fmt/format.h>
#include <iterator>

#include "harness/grading/grader.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

void head_dims(Probe& probe) {
  constexpr std::int64_t kDims[] = {1,  2,  3,  7,  8,   15,  16,  17,  24,  31,  33,  47,  59,
                                    64, 65, 80, 96, 111, 127, 128, 129, 160, 192, 224, 255, 256};
  const auto any = [&](Rng& rng) {
    return rng.chance(0.3) ? rng.integer(1, 256) : kDims[rng.integer(0, std::size(kDims) - 1)];
  };
  for (int n = 0; n < 8; ++n) {
    Rng rng = probe.begin_case(fmt::format("dims {}", n));
    Sizes sizes;
    sizes.q_heads = 2;
    sizes.q_len = rng.integer(20, 90);
    sizes.k_len = rng.integer(20, 90);
    sizes.dim = n == 0 ? 256 : any(rng);
    sizes.value_dim = n == 0 ? 255 : n % 2 == 1 ? sizes.dim : any(rng);
    // And once surely much less than value_dim.
    if (n == 2) sizes.value_dim = rng.integer(64, 256), sizes.dim = sizes.value_dim / 2;
    Problem problem = random_problem(rng, sizes);
    problem.form.causal = rng.chance(0.3);
    attend(problem);
    require_right(probe, problem);
  }
}

void grouped_heads(Probe& probe) {
  for (const std::int64_t group : {2, 4, 7, 8}) {
    Rng rng = probe.begin_case(fmt::format("groups of {}", group));
    Sizes sizes;
    sizes.batch = rng.integer(1, 2);
    sizes.kv_heads = group >= 7 ? 1 : rng.integer(2, 3);
    sizes.q_heads = group * sizes.kv_heads;
    sizes.q_len = rng.integer(66, 100);
    sizes.k_len = rng.integer(66, 140);
    sizes.dim = 16;
    sizes.value_dim = 24;
    Problem problem = attended_problem(rng, sizes);
    require_right(probe, problem);
  }
}

void scales(Probe& probe) {
  for (const float scale : {1.0f, 0.0f, -0.2f, 0.05f}) {
    Rng rng = probe.begin_case(fmt::format("scale {}", scale));
    Problem problem = attended_problem(rng, 50, 66);
    problem.form.scale = scale;
    const double size = scale == 0 ? 1 : 0.4 / std::abs(scale);
    for (float& q : problem.q.data)
      q *= static_cast<float>(size / std::sqrt(double(problem.form.dim)));
    attend(problem);
    require_right(probe, problem);
  }
}

void softcap(Probe& probe) {
  for (const double cap : {15.0, 30.0, 50.0, 2.0}) {
    Rng rng = probe.begin_case(fmt::format("softcap {}", cap));
    Problem problem = attended_problem(rng, 50, 66);
    problem.form.softcap = cap;
    for (float& q : problem.q.data)
      q *= static_cast<float>(cap / 9);  // so that the cap bends the scores
    attend(problem);
    require_right(probe, problem);
  }
}

void empty_problems(Probe& probe) {
  struct Case {
    const char* name;
    std::int64_t batch, q_len, k_len;
  };
  for (const Case& made :
       {Case{"no queries", 2, 0, 70}, Case{"no keys", 2, 70, 0}, Case{"no batch", 0, 9, 9},
        Case{"nothing at all", 1, 0, 0}, Case{"one by one", 1, 1, 1}}) {
    Rng rng = probe.begin_case(made.name);
    Sizes sizes = drawn_sizes(rng, made.q_len, made.k_len);
    sizes.batch = made.batch;
    Problem problem = attended_problem(rng, sizes);
    require_right(probe, problem);
  }
}

}  // namespace

std::vector<Check> shapes_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"head_dims", "columns that fill no vector, value_dim taken for head_dim", correctness, 1,
        major},
       head_dims},
      {{"grouped_heads", "query heads of a group that do not add up", correctness, 2, critical},
       grouped_heads},
      {{"scales", "scale taken for 1/sqrt(head_dim), or applied once too often", correctness, 1,
        major},
       scales},
      {{"softcap", "the slope of the cap forgotten", correctness, 1, major}, softcap},
      {{"empty_problems", "no queries, no keys, no batch", robustness, 1, major}, empty_problems},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
