// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <limits>
#include <optional>

#include "domain.h"
#include "drawing.h"
#include "graders/kit/refusals.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "invalid_calls.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Assignment;

SolvedProblem small_problem(Rng& rng, const Accept& accept = {}, std::int64_t min_new = 1,
                            const Range& after = {3, 5}) {
  Settings settings = random_settings(rng, rng.chance(0.5) ? BEAM_POOLED : BEAM_SEPARATE);
  settings.beam = settings.n_return = rng.integer(2, 3);
  settings.vocab = rng.integer(4, 9);
  settings.max_new = min_new + rng.integer(after.low, after.high);
  settings.min_new = min_new;
  settings.eos = {2};
  return random_problem(rng, settings, 3, draw_language, accept);
}

CallOptions without(std::string_view array) {
  CallOptions options;
  options.missing = array;
  return options;
}

/// Nothing is written, and the model is not asked; a finding says what was wrong with the call.
void require_refused(Probe& probe, const Invalid& invalid, Problem problem, const Seed& states,
                     CallOptions options) {
  invalid.misplace(problem.settings);
  if (!invalid.flaw.missing.empty()) options.missing = invalid.flaw.missing;
  SearchCall call(problem, Rng(states), options);
  invalid.flaw.spoil(call.args);
  kit::naming_flaw(invalid.flaw.name, [&] {
    kit::require_refused(probe, call, invalid.want);
    probe.require(call.model().tally().requests == 0,
                  "asked the model although it refused the call");
  });
}

/// Searches of these classes that are good but for what is spoilt.
void refuse(Probe& probe, const InvalidGroup& group, const Assignment& choice, Rng& rng) {
  const Problem problem = problem_of(choice, rng);
  const Seed states = rng.seed();
  for (const Invalid& invalid : group.all)
    require_refused(probe, invalid, problem, states, options_of(choice));
}

/// The same search is asked before and after each of them, and has to be right every time.
void refuse_between(Probe& probe, const InvalidGroup& group, const Assignment& choice, Rng& rng) {
  const std::optional<SolvedProblem> judgeable = judgeable_problem_of(choice, rng);
  if (!judgeable) return;
  const SolvedProblem& solved = *judgeable;
  const CallOptions options = options_of(choice);
  const Seed states = rng.seed();
  const auto require_right_again = [&] {
    require_no_difference(probe, solved, ask(probe, states, solved.problem, options));
  };
  require_right_again();
  for (const Invalid& invalid : group.all) {
    require_refused(probe, invalid, solved.problem, states, options);
    require_right_again();
  }
}

template <class Put>
std::vector<kit::Refusal> refusals(Probe& probe, const Put& put) {
  std::vector<kit::Refusal> all;
  for (const InvalidGroup& group : invalid_calls())
    all.push_back(
        {group.name,
         // Idle threads of an earlier call cost every later one a millisecond, and
         // refuse nothing.
         [beside = group.beside](const Assignment& choice) {
           return beside(choice) && choice["threads"].most <= 7;
         },
         [=, &probe](const Assignment& choice, Rng& rng) { put(probe, group, choice, rng); }});
  return all;
}

// The model refuses a request, the last that there may be as well: its number comes back, and it is
// left alone. The next call is as good as any.
void model_failure(Probe& probe) {
  constexpr std::int64_t kLast = 30;
  for (const std::int64_t request :
       {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{9}, kLast}) {
    Rng rng = probe.begin_case(fmt::format("request_{}", request));
    const SolvedProblem solved = small_problem(
        rng, [&](const Language&, const Expected& want) { return want.steps > request; },
        request > 3 ? request : 1, request == kLast ? Range{1, 1} : Range{3, 5});
    const std::int64_t high = rng.integer(1, 1000) << 32;  // lost in 32 bits
    CallOptions options;
    options.failure = {request, request == 1   ? high
                                : request == 2 ? rng.integer(1, 1000)
                                               : -high - 3};
    const Answer answer = ask(probe, rng, solved.problem, options);
    if (!answer.tally.fault.empty()) probe.fail(answer.tally.fault);
    if (answer.returned != options.failure.returned)
      probe.fail(fmt::format("returned {} when the model returned {}", answer.returned,
                             options.failure.returned));
    // The caller rounds on as it did.
    options.failure.request = 1;
    ask_with_unusual_floats(probe, rng.seed(), solved.problem, options);
    require_right(probe, rng, solved);
    // Nor does what was left half done count in a search with another EOS id.
    ask(probe, rng, solved.problem, options);
    Settings both = solved.problem.settings;
    both.eos.push_back(kit::one_of(rng, {0, 1, 3}));
    Settings other = both;
    other.eos.erase(other.eos.begin());
    require_right(probe, rng, random_problem(rng, other, 3, draw_language, unlike(both)));
  }
  Rng rng = probe.begin_case("again_and_again");
  require_freed(probe, rng);
  require_answers_let_go(probe, rng);
}

// An empty batch, steps that nobody wants, and what may be null when there is nothing of it.
void optional_outputs(Probe& probe) {
  for (const std::int32_t policy : kPolicies) {
    Rng rng = probe.begin_case(fmt::format("policy_{}_without_steps", policy));
    SolvedProblem solved = small_problem(rng);
    solved.problem.settings.policy = policy;
    solved = random_problem(rng, solved.problem.settings, 3);
    require_right(probe, rng, solved, without("steps"));
  }
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  Rng rng = probe.begin_case("empty_batch");
  Settings of_nobody = random_settings(rng, BEAM_SEPARATE);
  of_nobody.threads = 1024;  // as many as there may be
  const SolvedProblem nobody = random_problem(rng, of_nobody, 0);
  require_right(probe, rng, nobody);
  CallOptions without_arrays;
  without_arrays.null_when_empty = true;
  require_right(probe, rng, nobody, without_arrays);
  require_refused_without_arrays(probe, rng, of_nobody, rng.integer(std::int64_t{1} << 32, kMost));
  // A batch of nothing is judged like any other.
  for (const std::size_t place : {0, 1, 2}) {
    rng = probe.begin_case(fmt::format("empty_batch_with_an_id_that_is_none_{}", place));
    Settings misplaced = random_settings(rng, BEAM_SEPARATE);
    misplaced.min_new = misplaced.max_new;
    misplaced.vocab += 3;
    misplaced.eos = {0, 1, 2};
    misplaced.eos[place] = static_cast<std::int32_t>(misplaced.vocab);
    const Problem nothing{misplaced, {}, {}};
    SearchCall refused(nothing, Rng(rng.seed()));
    kit::require_refused(probe, refused, BEAM_BAD_ARGUMENT);
  }
  rng = probe.begin_case("no_step_and_no_eos");
  Settings unneeded = random_settings(rng, BEAM_SEPARATE);
  unneeded.max_new = unneeded.min_new = 0;
  unneeded.eos = {0};
  const Problem idle = random_problem(rng, unneeded, 3).problem;
  SearchCall without_ids(idle, Rng(rng.seed()), without("eos"));
  kit::require_refused(probe, without_ids, BEAM_BAD_ARGUMENT);
  rng = probe.begin_case("without_eos");
  Settings endless = random_settings(rng, BEAM_SEPARATE);
  endless.eos.clear();
  require_right(probe, rng, random_problem(rng, endless, 3), without("eos"));
  for (const char* array : {"step", "tokens"}) {
    rng = probe.begin_case(fmt::format("no_step_and_no_{}", array));
    Settings stepless = random_settings(rng, BEAM_POOLED);
    stepless.max_new = stepless.min_new = 0;
    require_right(probe, rng, random_problem(rng, stepless, 3), without(array));
    // One token is written, although nobody is asked for it.
    rng = probe.begin_case(fmt::format("one_step_and_no_{}", array));
    Settings single = random_settings(rng, BEAM_POOLED);
    single.max_new = 1;
    single.min_new = 0;
    const Problem problem = random_problem(rng, single, 3).problem;
    SearchCall refused(problem, Rng(rng.seed()), without(array));
    kit::require_refused(probe, refused, BEAM_BAD_ARGUMENT);
  }
}

}  // namespace

std::vector<Check> refusals_checks() {
  using enum Section;
  using enum Severity;
  std::vector<Check> all =
      kit::refusal_checks({{&domain(), [](Probe& probe, bool between) {
                              return refusals(probe, between ? refuse_between : refuse);
                            }}});
  all.push_back({{"model_failure", "a model's failure that is not reported", robustness, 1, minor},
                 model_failure});
  all.push_back(
      {{"optional_outputs", "an empty batch; outputs that are not wanted", robustness, 0.5, minor},
       optional_outputs});
  return all;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
