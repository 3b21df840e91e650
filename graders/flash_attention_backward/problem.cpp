// SPDX-License-Identifier: Apache-2.0
#include "problem.h"

#include <algorithm>
#include <cmath>

#include "dense.h"
#include "graders/kit/inputs.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

Problem::Problem(const Sizes& sizes)
    : form(kit::with_sizes(sizes)),
      q({sizes.batch, sizes.q_heads, sizes.q_len, sizes.dim}),
      k({sizes.batch, sizes.kv_heads, sizes.k_len, sizes.dim}),
      v({sizes.batch, sizes.kv_heads, sizes.k_len, sizes.value_dim}),
      dout({sizes.batch, sizes.q_heads, sizes.q_len, sizes.value_dim}),
      o(dout.extents),
      lse(static_cast<std::size_t>(q_rows()), kit::kNan) {}

Problem random_problem(Rng& rng, const Sizes& sizes, double score_deviation) {
  Problem problem(sizes);
  // Seldom 1 / sqrt(dim) itself. A float, as in the contract: the oracle must use the same number.
  const double factor = rng.uniform(0.6, 1.5);
  problem.form.scale = static_cast<float>(factor / std::sqrt(static_cast<double>(sizes.dim)));
  for (kit::Tensor* tensor : {&problem.q, &problem.k, &problem.v, &problem.dout}) {
    const double deviation = tensor == &problem.q ? score_deviation / factor : 1;
    for (float& number : tensor->data) number = static_cast<float>(deviation * rng.normal());
  }
  return problem;
}

void attend(Problem& problem) {
  const auto copy = [](const auto& from, auto to) {
    return std::transform(from.data(), from.data() + from.size(), to,
                          [](double number) { return static_cast<float>(number); });
  };
  auto o = problem.o.data.begin();
  auto lse = problem.lse.begin();
  for (std::int64_t batch = 0; batch < problem.form.batch; ++batch)
    for (std::int64_t head = 0; head < problem.form.q_heads; ++head) {
      const HeadForward forward = attend_head(problem.form, Head(problem, batch, head));
      o = copy(forward.o, o);
      lse = copy(forward.lse, lse);
    }
}

void change_some(Problem& problem, Rng& rng) {
  constexpr int kSome = 5;
  for (kit::Tensor* tensor : {&problem.q, &problem.k, &problem.v, &problem.dout})
    for (int n = 0; n < kSome; ++n)
      tensor->data[static_cast<std::size_t>(rng.integer(1, std::ssize(tensor->data) - 2))] += 1;
  attend(problem);
}

Problem attended_problem(Rng& rng, const Sizes& sizes) {
  Problem problem = random_problem(rng, sizes);
  problem.form.causal = rng.chance(0.5);
  attend(problem);
  return problem;
}

Problem attended_problem(Rng& rng, std::int64_t q_low, std::int64_t k_low) {
  const std::int64_t k_len = rng.integer(k_low, k_low + 70);
  const std::int64_t q_len = rng.integer(q_low, q_low + 70);
  return attended_problem(rng, drawn_sizes(rng, q_len, k_len));
}

Sizes drawn_sizes(Rng& rng, std::int64_t q_len, std::int64_t k_len) {
  struct Heads {
    std::int64_t q, kv;
  };
  const Heads heads = kit::one_of<Heads>(rng, {{1, 1}, {2, 1}, {2, 2}, {3, 1}, {3, 3}, {4, 2}});
  Sizes sizes{1, heads.q, heads.kv, q_len, k_len};
  if (heads.q == 1) sizes.batch = rng.integer(1, 2);
  sizes.dim = kit::one_of<std::int64_t>(rng, {16, 32, 40, 64, 80});
  sizes.value_dim = rng.chance(0.5) ? sizes.dim : kit::one_of<std::int64_t>(rng, {16, 24, 32, 64});
  return sizes;
}

std::int64_t near_tile_edge(Rng& rng, std::int64_t smallest, std::int64_t largest) {
  const std::int64_t tile = kit::one_of<std::int64_t>(rng, {16, 32, 48, 64});
  const std::int64_t multiples = rng.integer((smallest + tile - 1) / tile, largest / tile);
  return std::clamp(multiples * tile + rng.integer(-1, 1), smallest, largest);
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
