// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "domain.h"
#include "graders/kit/attention_domain.h"
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
  return attended_problem(rng,
                          {1, 2, 1, kit::near_to(rng, form.q_len), kit::near_to(rng, form.k_len),
                           columns_near(rng, form.dim), columns_near(rng, form.value_dim)});
}

/// What the solution is asked before the problem that is judged.
Problem earlier(const Assignment& choice, Rng& rng, const Problem& problem) {
  if (choice.is("before", "another size")) return another_size(rng, problem.form);
  Problem other = problem;
  const std::string& before = choice["before"].name;
  kit::put_difference(
      before, rng, other.form,
      {{"q", &other.q}, {"k", &other.k}, {"v", &other.v}, {"dout", &other.dout}, {"o", &other.o}});
  if (before == "lse differed")
    for (float& lse : other.lse) lse += 1;
  if (before == "softcap differed") other.form.softcap = problem.form.softcap > 0 ? 0 : 1;
  if (before == "dlse differed") {
    other.dlse.resize(other.lse.size());
    for (float& dlse : other.dlse) dlse += 1;
  }
  if (before == "fewer keys existed")
    for (std::int32_t& len : other.form.kv_len)
      len = rng.chance(0.5) ? std::max(0, len - 1) : len / 2;
  // Where scores differ, the lse of these would be too low for the contract.
  if (before.ends_with("q differed") || before.ends_with("k differed") ||
      before == "scale differed" || before == "softcap differed" || before == "mask differed" ||
      before == "fewer keys existed")
    attend(other);
  return other;
}

/// Another stride for the rows of each array, and so for its heads and batch entries.
void lay_otherwise(CallOptions& options) {
  for (kit::Layout* layout : {&options.q, &options.k, &options.v, &options.o, &options.dout,
                              &options.dq, &options.dk, &options.dv}) {
    const std::int64_t before = layout->row_gap;
    *layout = {};
    layout->row_gap = before + 1;
  }
}

void ask_domain(Probe& probe, const Assignment& choice, Rng& rng) {
  const Problem problem = problem_of(choice, rng);
  const CallOptions options = options_of(choice, rng);
  if (!choice.is("before", "nothing")) {
    CallOptions then = options;
    if (choice.is("before", "other threads")) then.threads = options.threads == 2 ? 5 : 2;
    if (choice.is("before", "another size") || choice.is("before", "other strides"))
      then.far.reset();
    if (choice.is("before", "other strides")) lay_otherwise(then);
    if (choice.is("before", "other results"))
      for (bool* wanted : {&then.want_dq, &then.want_dk, &then.want_dv, &then.want_delta})
        *wanted = !*wanted;
    ask(probe, earlier(choice, rng, problem), then);
  }
  const Answer first = require_right(probe, problem, options);
  constexpr int kFewThreads = 7;  // many take long to start, and race no more
  if (options.deterministic > 1 && options.threads <= kFewThreads)
    require_equal(probe, problem, ask(probe, problem, options), first);
}

}  // namespace

std::vector<Check> domain_checks() {
  return kit::domain_checks({{&domain(), ask_domain}});
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
