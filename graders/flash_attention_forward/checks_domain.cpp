// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "domain.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Assignment;

std::int64_t columns_near(Rng& rng, std::int64_t columns) {
  constexpr std::int64_t kMost = 256;
  return std::min(kMost, kit::near_to(rng, columns));
}

/// Of other sizes, at the same addresses.
Problem another_size(Rng& rng, const kit::AttentionProblem& form) {
  Problem other({1, 2, 1, kit::near_to(rng, form.q_len), kit::near_to(rng, form.k_len),
                 columns_near(rng, form.dim), columns_near(rng, form.value_dim)});
  fill_sharp(other, rng);
  return other;
}

/// Of as many query heads, each on keys of its own or all on the same.
Problem another_group(Rng& rng, const kit::AttentionProblem& form) {
  const std::int64_t heads = form.kv_heads < form.q_heads ? form.q_heads : form.kv_heads > 0;
  Problem other(
      {form.batch, form.q_heads, heads, form.q_len, form.k_len, form.dim, form.value_dim});
  fill_sharp(other, rng);
  return other;
}

/// Only about half of the keys existed, none that does not now: those may be no numbers.
void halve_lists(kit::AttentionProblem& form) {
  for (std::int64_t b = 0; b < form.batch; ++b) {
    const auto at = static_cast<std::size_t>(b);
    const auto half = static_cast<std::int32_t>(form.existing_keys(b).size() / 2);
    if (!form.kv_start.empty()) form.kv_start[at] += half;
    if (!form.kv_len.empty()) form.kv_len[at] -= half;
  }
}

/// What the solution is asked before the problem that is judged.
Problem earlier(const Assignment& choice, Rng& rng, const Problem& problem) {
  if (choice.is("before", "another size")) return another_size(rng, problem.form);
  if (choice.is("before", "another group")) return another_group(rng, problem.form);
  Problem other = problem;
  const auto negate_one = [&](kit::Tensor& tensor) {
    float& number = tensor.data[static_cast<std::size_t>(
        rng.integer(0, static_cast<std::int64_t>(tensor.data.size()) - 1))];
    number = -number;
  };
  if (choice.is("before", "one element of q differed")) negate_one(other.q);
  if (choice.is("before", "one element of k differed")) negate_one(other.k);
  if (choice.is("before", "one element of v differed")) negate_one(other.v);
  if (choice.is("before", "scale differed")) other.form.scale /= 2;
  if (choice.is("before", "mask differed")) {
    other.form.causal = !problem.form.causal;
    other.form.window_left = rng.integer(0, 9);
  }
  if (choice.is("before", "softcap differed")) {
    other.form.softcap = problem.form.softcap > 0 ? problem.form.softcap / 2 : 1.0f;
  }
  if (choice.is("before", "lists differed")) halve_lists(other.form);
  return other;
}

void ask_domain(Probe& probe, const Assignment& choice, Rng& rng) {
  const Problem problem = problem_of(choice, rng);
  const CallOptions options = options_of(choice, rng);
  if (!choice.is("before", "nothing")) {
    CallOptions then = options;
    if (choice.is("before", "other threads")) then.threads = options.threads == 2 ? 5 : 2;
    if (choice.is("before", "another size") || choice.is("before", "another group"))
      then.far.reset();
    if (choice.is("before", "lse or not")) then.want_lse = !options.want_lse;
    ask(probe, earlier(choice, rng, problem), then);
  }
  require_right(probe, problem, options);
}

}  // namespace

std::vector<Check> domain_checks() {
  return kit::domain_checks({{&domain(), ask_domain}});
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
