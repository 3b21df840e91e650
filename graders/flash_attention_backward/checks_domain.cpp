// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <string_view>

#include "domain.h"
#include "harness/core/error.h"
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
  const auto negate_one = [&](kit::Tensor& tensor) {
    float& number = tensor.data[static_cast<std::size_t>(
        rng.integer(0, static_cast<std::int64_t>(tensor.data.size()) - 1))];
    number = -number;
  };
  if (before == "one element of q differed") negate_one(other.q);
  if (before == "one element of k differed") negate_one(other.k);
  if (before == "one element of v differed") negate_one(other.v);
  if (before == "one element of dout differed") negate_one(other.dout);
  if (before == "one element of o differed") negate_one(other.o);
  if (before == "scale differed") other.form.scale /= 2;
  if (before == "mask differed") {
    other.form.causal = !problem.form.causal;
    other.form.window_left = rng.integer(0, 9);
  }
  if (before == "lse differed")
    for (float& lse : other.lse) lse += 1;
  // Where scores differ, the lse of these would be too low for the contract.
  if (before.ends_with("q differed") || before.ends_with("k differed") ||
      before == "scale differed" || before == "mask differed")
    attend(other);
  return other;
}

void ask_domain(Probe& probe, const Assignment& choice, Rng& rng) {
  const Problem problem = problem_of(choice, rng);
  const CallOptions options = options_of(choice, rng);
  if (!choice.is("before", "nothing")) {
    CallOptions then = options;
    if (choice.is("before", "other threads")) then.threads = options.threads == 2 ? 5 : 2;
    ask(probe, earlier(choice, rng, problem), then);
  }
  const Answer first = require_right(probe, problem, options);
  constexpr int kFewThreads = 7;  // many take long to start, and race no more
  if (options.deterministic > 1 && options.threads <= kFewThreads)
    require_equal(probe, problem, ask(probe, problem, options), first);
}

/// The place of an argument or a class with this name.
template <class Named>
std::size_t place_of(const std::vector<Named>& all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &Named::name);
  if (found == all.end()) throw Broken(OwnFault::bug, fmt::format("there is no `{}`", name));
  return static_cast<std::size_t>(found - all.begin());
}

/// Every class of one argument beside one class of another, and the simplest of all else.
std::vector<Assignment> each_beside(std::string_view argument, std::string_view other,
                                    std::string_view its_class) {
  const auto& arguments = domain().arguments;
  const std::size_t one = place_of(arguments, argument);
  const std::size_t two = place_of(arguments, other);
  const Assignment beside =
      Assignment(arguments).with(two, place_of(arguments[two].classes, its_class));
  std::vector<Assignment> all;
  for (std::size_t c = 1; c < arguments[one].classes.size(); ++c)
    if (const Assignment made = beside.with(one, c); !made.hides(one) && domain().valid(made))
      all.push_back(made);
  return all;
}

/// What two arguments decide together. The covering array has these pairs as well, but each once or
/// twice, and beside a third class that may hide it: a window that begins where the keys do, a
/// scale of 0, or more threads than are asked again.
void ask_pairs_alone(Probe& probe) {
  const auto ask_each_beside = [&](auto... names) {
    kit::ask_each(probe, domain(), each_beside(names...),
                  [&](const Assignment& choice, Rng& rng) { ask_domain(probe, choice, rng); });
  };
  ask_each_beside("q_len", "kv_start", "1 to 9");
  ask_each_beside("q_len", "kv_len", "half");
  ask_each_beside("q_len", "deterministic", "256");
  ask_each_beside("k_len", "deterministic", "256");
  for (const char* scores :
       {"equal", "of the cap's size", "one 14 to 24 above", "1e3 to 1e4 apart"})
    ask_each_beside("softcap", "scores", scores);
}

}  // namespace

std::vector<Check> domain_checks() {
  std::vector<Check> all = kit::domain_checks({{&domain(), ask_domain}});
  Check& every_argument = all.front();
  every_argument.ask = [covering = every_argument.ask](Probe& probe) {
    covering(probe);
    ask_pairs_alone(probe);
  };
  return all;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
