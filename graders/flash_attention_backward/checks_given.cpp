// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "harness/grading/grader.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// Keys [first, last) of a problem, with the o and lse of the whole: what one rank of ring
/// attention is asked. A causal mask becomes a window, because the shard's last key is not the last
/// of all.
Problem shard_of(const Problem& whole, std::int64_t first, std::int64_t last) {
  Problem shard = whole;
  const kit::AttentionProblem& form = whole.form;
  shard.form.k_len = last - first;
  if (form.causal) {
    shard.form.causal = last == form.k_len;
    shard.form.window_right = form.k_len - last;
  }
  const auto cut = [&](const kit::Tensor& from) {
    kit::Extents extents = from.extents;
    extents.rows = last - first;
    kit::Tensor kept(extents);
    kit::for_each_row(kept, [&](std::span<float> row, auto b, auto h, auto j) {
      std::copy_n(from.row(b, h, first + j), row.size(), row.begin());
    });
    return kept;
  };
  shard.k = cut(whole.k);
  shard.v = cut(whole.v);
  return shard;
}

/// Puts a shard's dk or dv where they belong in the whole.
void paste(std::vector<float>& whole, const std::vector<float>& part, std::int64_t heads,
           std::int64_t first, std::int64_t columns) {
  const std::int64_t whole_size = static_cast<std::int64_t>(whole.size()) / heads;
  const std::int64_t part_size = static_cast<std::int64_t>(part.size()) / heads;
  for (std::int64_t head = 0; head < heads; ++head)
    std::copy_n(part.begin() + head * part_size, part_size,
                whole.begin() + head * whole_size + first * columns);
}

Answer sum_of_shards(Probe& probe, const Problem& whole, const std::vector<std::int64_t>& borders) {
  const kit::AttentionProblem& form = whole.form;
  Answer sum;
  sum.dk.resize(whole.k.data.size());
  sum.dv.resize(whole.v.data.size());
  std::vector<double> dq(whole.q.data.size(), 0.0);
  for (std::size_t n = 0; n + 1 < borders.size(); ++n) {
    const Problem shard = shard_of(whole, borders[n], borders[n + 1]);
    const Answer part = ask(probe, shard);
    for (std::size_t at = 0; at < dq.size(); ++at) dq[at] += part.dq[at];
    paste(sum.dk, part.dk, form.batch * form.kv_heads, borders[n], form.dim);
    paste(sum.dv, part.dv, form.batch * form.kv_heads, borders[n], form.value_dim);
  }
  sum.dq.assign(dq.begin(), dq.end());
  return sum;
}

// k and v in shards, o and lse of the whole: dq adds up, dk and dv lie side by side. Weights of a
// shard do not add up to 1; whoever makes them do so, or takes delta from the shard, is seen.
void shard_additivity(Probe& probe) {
  for (int n = 0; n < 3; ++n) {
    Rng rng = probe.begin_case(fmt::format("shards {}", n));
    const std::int64_t length = rng.integer(170, 220);
    Problem whole = random_problem(rng, drawn_sizes(rng, rng.integer(100, length), length));
    whole.form.causal = n == 1;
    attend(whole);
    std::vector<std::int64_t> borders{0, rng.integer(1, length - 1), length};
    if (n > 0) borders.insert(borders.begin() + 1, rng.integer(0, borders[1]));
    if (n == 2) borders.insert(borders.begin() + 1, borders[1]);  // one shard is empty
    require_close(probe, whole, sum_of_shards(probe, whole, borders), expect(whole));
  }
}

// lse moved by a number of each row: weights and gradients follow by e^-d; by infinity, they are 0.
void given_lse(Probe& probe) {
  for (int n = 0; n < 2; ++n) {
    Rng rng = probe.begin_case(fmt::format("moved lse {}", n));
    Problem problem = attended_problem(rng, 60, 70);
    require_right(probe, problem);
    for (float& lse : problem.lse) lse += static_cast<float>(rng.uniform(-1.5, 3));
    for (std::size_t row = 3; n == 1 && row < problem.lse.size(); row += 7)  // some see keys
      problem.lse[row] = -kit::kInfinity;
    require_right(probe, problem);
  }
}

void given_output(Probe& probe) {
  for (int n = 0; n < 2; ++n) {
    Rng rng = probe.begin_case(fmt::format("another o {}", n));
    Problem problem = attended_problem(rng, 60, 70);
    require_right(probe, problem);
    kit::for_each_row(problem.o, [&](std::span<float> o, auto, auto, auto) {
      const double size = rng.chance(0.1) ? kit::one_of(rng, {0.0, 1e-25, 1e-40}) : 1;
      for (float& number : o) number = static_cast<float>(size * rng.normal());
    });
    require_right(probe, problem);
  }
}

/// delta is a sum of what is given, whatever a query sees: with a mask that leaves some queries
/// nothing, and where lse says that they saw nothing.
void require_blind_right(Probe& probe, Problem& problem, Rng& rng, const CallOptions& options) {
  const auto fewer = static_cast<std::int32_t>(problem.form.q_len / 2);
  problem.form.causal = true;
  problem.form.kv_len.assign(static_cast<std::size_t>(problem.form.batch),
                             std::min(fewer, static_cast<std::int32_t>(problem.form.k_len)));
  attend(problem);
  for (float& lse : problem.lse)
    if (std::isinf(lse) && rng.chance(0.5)) lse = 0;
  for (float& lse : problem.lse)
    if (rng.chance(0.2)) lse = -kit::kInfinity;
  require_right(probe, problem, options);
}

void lse_gradient(Probe& probe) {
  for (int n = 0; n < 2; ++n) {
    Rng rng = probe.begin_case(fmt::format("dlse {}", n));
    Problem problem = attended_problem(rng, 60, 70);
    for (std::int64_t row = 0; row < problem.q_rows(); ++row)
      problem.dlse.push_back(static_cast<float>(2 * rng.normal()));
    if (n == 1)  // dlse alone
      for (float& dout : problem.dout.data) dout = 0;
    CallOptions options;
    options.want_delta = true;
    require_right(probe, problem, options);
    require_blind_right(probe, problem, rng, options);
  }
}

void delta_output(Probe& probe) {
  for (int n = 0; n < 2; ++n) {
    Rng rng = probe.begin_case(fmt::format("delta {}", n));
    Problem problem = attended_problem(rng, 60, 130);
    CallOptions options;
    options.want_delta = true;
    const std::int64_t border = rng.integer(66, 120);
    require_right(probe, problem, options);
    require_right(probe, shard_of(problem, 0, border), options);
  }
}

}  // namespace

std::vector<Check> given_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"shard_additivity", "weights or delta made from the keys at hand instead of lse and o",
        correctness, 3, critical},
       shard_additivity},
      {{"given_lse", "a softmax of its own instead of the given lse", correctness, 1, major},
       given_lse},
      {{"given_output", "delta from weights at hand instead of the given o", correctness, 1, major},
       given_output},
      {{"lse_gradient", "dlse ignored", correctness, 1, major}, lse_gradient},
      {{"delta_output", "delta of the keys at hand, or never written", correctness, 1, major},
       delta_output},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
