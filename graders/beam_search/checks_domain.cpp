// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <optional>

#include "domain.h"
#include "drawing.h"
#include "graders/kit/assignments.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Assignment;

// Numbers of all rows of a request from which on a solution may well start threads, short rows
// counted as 64.
constexpr std::int64_t kWorthThreads = 4096;

/// The same model, but for one number of one root row.
Language with_another_root(const Problem& problem, Rng& rng) {
  const std::int64_t item = rng.integer(0, problem.batch() - 1);
  const auto token = static_cast<std::size_t>(rng.integer(0, problem.settings.vocab - 1));
  return [language = problem.language, item, token](const Context& at, std::span<float> row) {
    language(at, row);
    if (at.depth == 0 && at.item == item) row[token] = row[token] == 0 ? -1.0F : 0.0F;
  };
}

/// The same root rows; after that, what it says of the first token it said of the last.
Language with_other_answers(const Problem& problem) {
  return [language = problem.language](const Context& at, std::span<float> row) {
    language(at, row);
    if (at.depth > 0) std::ranges::reverse(row);
  };
}

/// Each id is the token after it.
void move_ids(Settings& settings) {
  for (std::int32_t& id : settings.eos) id = static_cast<std::int32_t>((id + 1) % settings.vocab);
}

/// The last one is the next token that is none, where there is one.
void move_last_id(Settings& settings) {
  std::vector<std::int32_t>& ids = settings.eos;
  for (std::int64_t by = 1; !ids.empty() && by < settings.vocab; ++by) {
    const auto token = static_cast<std::int32_t>((ids.back() + by) % settings.vocab);
    if (std::ranges::find(ids, token) != ids.end()) continue;
    ids.back() = token;
    return;
  }
}

/// The search that the solution sees before the one that is judged: with the same states, and
/// mostly at the same addresses.
Problem earlier(const Assignment& choice, Rng& rng, const Problem& problem) {
  Problem other = problem;
  Settings& settings = other.settings;
  if (choice.is("before", "a root row differed")) other.language = with_another_root(problem, rng);
  if (choice.is("before", "the model differed")) other.language = with_other_answers(problem);
  if (choice.is("before", "alpha differed")) settings.alpha = settings.alpha > 0 ? -0.75 : 1.25;
  // By less than what a float holds, and more than scores may be off by.
  if (choice.is("before", "alpha differed a little")) settings.alpha *= 1 - 2e-8;
  if (choice.is("before", "the penalty differed"))
    settings.penalty =
        settings.penalty == BEAM_PENALTY_LENGTH ? BEAM_PENALTY_GNMT : BEAM_PENALTY_LENGTH;
  if (choice.is("before", "max_new differed")) ++settings.max_new;
  if (choice.is("before", "EOS ids differed")) move_ids(settings);
  if (choice.is("before", "the last EOS id differed")) move_last_id(settings);
  if (choice.is("before", "the policy differed"))
    settings.policy = settings.policy == BEAM_POOLED ? BEAM_SEPARATE : BEAM_POOLED;
  if (choice.is("before", "the stop differed"))
    settings.stop = settings.stop == BEAM_STOP_BOUND ? BEAM_STOP_FULL : BEAM_STOP_BOUND;
  if (choice.is("before", "other threads")) settings.threads = settings.threads == 2 ? 5 : 2;
  if (choice.is("before", "one item more")) {
    std::vector<std::int64_t> items{0};
    for (std::int64_t b = 0; b < problem.batch(); ++b) items.push_back(b);
    other = part_of(problem, items);
  }
  return other;
}

/// The model fails: its number comes back, and it is left alone. At the last request always, so
/// that no late failure is met by chance only. Under unusual float controls as well, which have to
/// stay, at the first request: whether later ones come may hang on how sums are rounded.
void fail_before(Probe& probe, Rng& rng, const SolvedProblem& solved, const Seed& states,
                 CallOptions options) {
  using Limits = std::numeric_limits<std::int64_t>;
  std::int64_t last = 0;
  for (const Expected& want : solved.want) last = std::max(last, want.steps - 1);
  if (last <= 0) return;
  for (const std::int64_t request : {last, rng.integer(1, last)}) {
    options.failure.request = request;
    options.failure.returned = kit::one_of(
        rng, {std::int64_t{1}, std::int64_t{-1}, std::int64_t{-2}, std::int64_t{1} << 32,
              -(std::int64_t{1} << 32), Limits::min(), Limits::max()});
    const Answer answer = ask(probe, states, solved.problem, options);
    if (!answer.tally.fault.empty()) probe.fail(answer.tally.fault);
    if (answer.returned != options.failure.returned)
      probe.fail(fmt::format("returned {} when the model returned {} to request {}",
                             answer.returned, options.failure.returned, request));
  }
  options.failure.request = 1;
  ask_with_unusual_floats(probe, states, solved.problem, options);
  // What it leaves half done is of a search with other ids.
  Problem other = solved.problem;
  move_ids(other.settings);
  ask(probe, states, other, options);
}

void ask_before(Probe& probe, const Assignment& choice, Rng& rng, const SolvedProblem& solved,
                const Seed& states, const CallOptions& options) {
  if (choice.is("before", "nothing") || solved.problem.batch() == 0) return;
  if (choice.is("before", "the model failed"))
    return fail_before(probe, rng, solved, states, options);
  if (choice.is("before", "a refusal")) {
    SearchCall call(solved.problem, Rng(states), options);
    call.args.n_return = call.args.beam + 1;
    return probe.run(call);
  }
  ask(probe, states, earlier(choice, rng, solved.problem), options);
  if (!choice.is("before", "other float controls")) return;
  ask_with_unusual_floats(probe, states, solved.problem, options);
}

void ask_search(Probe& probe, const Assignment& choice, Rng& rng) {
  const std::optional<SolvedProblem> judgeable = judgeable_problem_of(choice, rng);
  if (!judgeable) return;  // nobody could judge the answer
  const SolvedProblem& solved = *judgeable;
  const CallOptions options = options_of(choice);
  const Seed states = rng.seed();
  ask_before(probe, choice, rng, solved, states, options);
  require_no_difference(probe, solved, ask(probe, states, solved.problem, options));
  // Threads that a case left idle would slow all later ones.
  const Settings& settings = solved.problem.settings;
  const std::int64_t rows = solved.problem.batch() * settings.beam;
  if (settings.threads > 7 && rows * std::max<std::int64_t>(settings.vocab, 64) > kWorthThreads)
    probe.restart();
}

/// Every combination of the rules, for which pairs are too few: which bound a search stops at hangs
/// on the policy, the stop rule, the penalty and the sign of alpha.
std::vector<Assignment> all_rules(const std::string& beam, const std::string& ids) {
  std::vector<Assignment> all =
      kit::combinations(domain(), {{"batch", {"7 to 9"}},
                                   {"beam", {beam}},
                                   {"EOS ids", {ids}},
                                   {"policy"},
                                   {"stop"},
                                   {"penalty"},
                                   {"alpha", {"0.5 to 1.5", "0", "1", "2", "-1", "-1.5 to -0.3"}},
                                   {"min_new", {"0", "2"}}});
  // What decides nothing is asked elsewhere.
  std::erase_if(all, [](const Assignment& one) {
    return (one.is("policy", "pooled") && !one.is("stop", "bound")) ||
           (one.is("penalty", "none") && !one.is("alpha", "0.5 to 1.5"));
  });
  return all;
}

/// Half of them with fewer returned than there are beams, which no rule may look at.
void ask_rules(Probe& probe, const std::string& beam, const std::string& ids) {
  const auto returned = std::ranges::find(domain().arguments, "n_return", &kit::Argument::name);
  const auto place = static_cast<std::size_t>(returned - domain().arguments.begin());
  const auto half = std::ranges::find(returned->classes, "half", &kit::ValueClass::name);
  const auto fewer = static_cast<std::size_t>(half - returned->classes.begin());
  kit::ask_each(probe, domain(), all_rules(beam, ids), [&](const Assignment& choice, Rng& rng) {
    ask_search(probe, rng.chance(0.5) ? choice.with(place, fewer) : choice, rng);
  });
}

void every_rule(Probe& probe) {
  ask_rules(probe, "a few", "1");
}

void every_rule_of_wide_beams(Probe& probe) {
  ask_rules(probe, "5 to 9", "2");
}

}  // namespace

std::vector<Check> domain_checks() {
  using enum Section;
  using enum Severity;
  std::vector<Check> all = kit::domain_checks({{&domain(), ask_search}});
  all.push_back(
      {{"every_rule", "a rule that is wrong beside some others only", correctness, 2, critical},
       every_rule});
  all.push_back({{"every_rule_of_wide_beams", "the same with more hypotheses and EOS ids",
                  correctness, 1, major},
                 every_rule_of_wide_beams});
  return all;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
