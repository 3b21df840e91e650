// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "graders/kit/refusals.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

SolvedProblem small_problem(Rng& rng, const Accept& accept = {}) {
  Settings settings = random_settings(rng, rng.chance(0.5) ? BEAM_POOLED : BEAM_SEPARATE);
  settings.beam = settings.n_return = rng.integer(2, 3);
  settings.vocab = rng.integer(4, 9);
  settings.max_new = rng.integer(4, 6);
  settings.min_new = 1;
  settings.eos = {2};
  return random_problem(rng, settings, 3, draw_language, accept);
}

CallOptions without(std::string_view array) {
  CallOptions options;
  options.missing = array;
  return options;
}

using Flaw = kit::Flaw<BeamArgs>;

/// A call that must be turned down with `want`, before anything happens.
void require_refused(Probe& probe, const Flaw& flaw, std::int64_t want, std::int32_t eos = 2) {
  Rng rng = probe.begin_case(flaw.name);
  SolvedProblem solved = small_problem(rng);
  solved.problem.settings.eos = {eos};
  SearchCall call(solved.problem, Rng(rng.seed()), without(flaw.missing));
  flaw.spoil(call.args);
  kit::require_refused(probe, call, want);
  probe.require(call.model().tally().requests == 0, "asked the model although it refused the call");
}

void bad_arguments(Probe& probe) {
  const std::vector<Flaw> flaws{
      {"batch_below_0", [](BeamArgs& a) { a.batch = -1; }},
      {"no_beam", [](BeamArgs& a) { a.beam = 0; }},
      {"no_token", [](BeamArgs& a) { a.vocab = 0; }},
      {"max_new_below_0", [](BeamArgs& a) { a.max_new = a.min_new = -1; }},
      {"min_new_below_0", [](BeamArgs& a) { a.min_new = -1; }},
      {"min_above_max", [](BeamArgs& a) { a.min_new = a.max_new + 1; }},
      {"nothing_returned", [](BeamArgs& a) { a.n_return = 0; }},
      {"n_return_above_beam", [](BeamArgs& a) { a.n_return = a.beam + 1; }},
      {"eos_count_below_0", [](BeamArgs& a) { a.eos_count = -1; }},
      {"eos_beyond_vocab", [](BeamArgs& a) { a.vocab = 2; }},
      {"alpha_infinite", [](BeamArgs& a) { a.alpha = kit::kInfinity; }},
      {"alpha_nan", [](BeamArgs& a) { a.alpha = kit::kNan; }},
      {"unknown_penalty", [](BeamArgs& a) { a.penalty = 3; }},
      {"unknown_policy", [](BeamArgs& a) { a.policy = 2; }},
      {"unknown_stop", [](BeamArgs& a) { a.stop = -1; }},
      {"no_thread", [](BeamArgs& a) { a.num_threads = 0; }},
  };
  for (const Flaw& flaw : flaws) require_refused(probe, flaw, BEAM_BAD_ARGUMENT);
  require_refused(probe, {"eos_below_0"}, BEAM_BAD_ARGUMENT, -1);
  for (const char* array : {"eos", "prompt_lengths", "root_states", "root_log_probs", "step",
                            "hypotheses", "tokens", "lengths", "finished", "log_probs", "scores"}) {
    const std::string name = fmt::format("without_{}", array);
    require_refused(probe, {.name = name.c_str(), .missing = array}, BEAM_BAD_ARGUMENT);
  }
}

void unsupported_requests(Probe& probe) {
  const std::vector<Flaw> flaws{
      {"later_abi", [](BeamArgs& a) { a.abi_version = BEAM_ABI_VERSION + 1; }},
      {"unknown_device", [](BeamArgs& a) { a.device = 7; }},
  };
  for (const Flaw& flaw : flaws) require_refused(probe, flaw, BEAM_UNSUPPORTED);
}

// The model refuses a request: its number comes back, and it is left alone. The next call is as
// good as any.
void model_failure(Probe& probe) {
  for (std::int64_t request = 1; request <= 3; ++request) {
    Rng rng = probe.begin_case(fmt::format("request_{}", request));
    const SolvedProblem solved = small_problem(
        rng, [&](const Language&, const Expected& want) { return want.steps > request; });
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
    require_right(probe, rng, solved);
  }
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
  Rng rng = probe.begin_case("empty_batch");
  require_right(probe, rng, random_problem(rng, random_settings(rng, BEAM_SEPARATE), 0).problem);
  rng = probe.begin_case("without_eos");
  Settings endless = random_settings(rng, BEAM_SEPARATE);
  endless.eos.clear();
  require_right(probe, rng, random_problem(rng, endless, 3), without("eos"));
  for (const char* array : {"step", "tokens"}) {
    rng = probe.begin_case(fmt::format("no_step_and_no_{}", array));
    Settings stepless = random_settings(rng, BEAM_POOLED);
    stepless.max_new = stepless.min_new = 0;
    require_right(probe, rng, random_problem(rng, stepless, 3), without(array));
  }
}

}  // namespace

std::vector<Check> refusals_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"model_failure", "a model's failure that is not reported", robustness, 1, minor},
       model_failure},
      {{"bad_arguments", "arguments that make no sense, acted upon", robustness, 0.5, minor},
       bad_arguments},
      {{"unsupported_requests", "devices and versions that are not implemented, taken for others",
        robustness, 0.5, minor},
       unsupported_requests},
      {{"optional_outputs", "an empty batch; outputs that are not wanted", robustness, 0.5, minor},
       optional_outputs},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
