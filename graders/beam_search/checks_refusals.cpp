#include <fmt/format.h>
#include <limits>

#include "cases.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judging.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

Posed small_problem(Rng& rng, const Accept& accept = {}) {
  Settings settings = random_settings(rng, rng.chance(0.5) ? BEAM_POOLED : BEAM_SEPARATE);
  settings.beam = settings.n_return = rng.integer(2, 3);
  settings.vocab = rng.integer(4, 9);
  settings.max_new = rng.integer(4, 6);
  settings.min_new = 1;
  settings.eos = {2};
  return pose_random(rng, settings, 3, draw_dice, accept);
}

/// A call that must be turned down with `status`, before anything happens.
void expect_refusal(Probe& probe, const std::string& name, std::int64_t status, const Asking& how,
                    std::int32_t eos = 2) {
  Rng rng = probe.begin_case(name);
  Posed posed = small_problem(rng);
  posed.problem.settings.eos = {eos};
  const Answer answer = ask(
      posed.problem, Rng(rng.seed()), [&](CallBase& call) { probe.run(call); }, how);
  if (answer.returned != status)
    probe.fail(fmt::format("returned {}, want {}", answer.returned, status));
  probe.require(answer.untouched, "wrote to an output although it refused the call");
  probe.require(answer.tally.requests == 0, "asked the model although it refused the call");
}

void expect_bad(Probe& probe, const std::string& name, std::function<void(BeamArgs&)> changed) {
  Asking how;
  how.changed = std::move(changed);
  expect_refusal(probe, name, BEAM_BAD_ARGUMENT, how);
}

/// An array that nobody needs in this call is null.
void expect_right_without(Probe& probe, Rng& rng, const Posed& posed, const char* array) {
  Asking how;
  how.without = array;
  const Answer answer = ask(
      posed.problem, Rng(rng.seed()), [&](CallBase& call) { probe.run(call); }, how);
  if (const auto finding = difference(posed.problem, posed.want, answer))
    probe.fail(finding->summary, finding->evidence);
}

void bad_arguments(Probe& probe) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  expect_bad(probe, "batch_below_0", [](BeamArgs& args) { args.batch = -1; });
  expect_bad(probe, "no_beam", [](BeamArgs& args) { args.beam = 0; });
  expect_bad(probe, "no_token", [](BeamArgs& args) { args.vocab = 0; });
  expect_bad(probe, "max_new_below_0", [](BeamArgs& args) { args.max_new = args.min_new = -1; });
  expect_bad(probe, "min_new_below_0", [](BeamArgs& args) { args.min_new = -1; });
  expect_bad(probe, "min_above_max", [](BeamArgs& args) { args.min_new = args.max_new + 1; });
  expect_bad(probe, "nothing_returned", [](BeamArgs& args) { args.n_return = 0; });
  expect_bad(probe, "n_return_above_beam", [](BeamArgs& args) { args.n_return = args.beam + 1; });
  expect_bad(probe, "eos_count_below_0", [](BeamArgs& args) { args.eos_count = -1; });
  expect_bad(probe, "eos_beyond_vocab", [](BeamArgs& args) { args.vocab = 2; });
  expect_bad(probe, "alpha_infinite", [](BeamArgs& args) { args.alpha = kInfinity; });
  expect_bad(probe, "alpha_nan", [](BeamArgs& args) { args.alpha = kInfinity - kInfinity; });
  expect_bad(probe, "unknown_penalty", [](BeamArgs& args) { args.penalty = 3; });
  expect_bad(probe, "unknown_policy", [](BeamArgs& args) { args.policy = 2; });
  expect_bad(probe, "unknown_stop", [](BeamArgs& args) { args.stop = -1; });
  expect_bad(probe, "no_thread", [](BeamArgs& args) { args.num_threads = 0; });
  expect_refusal(probe, "eos_below_0", BEAM_BAD_ARGUMENT, {}, -1);
  for (const char* array : {"eos", "prompt_lengths", "root_states", "root_log_probs", "step",
                            "hypotheses", "tokens", "lengths", "finished", "log_probs", "scores"}) {
    Asking how;
    how.without = array;
    expect_refusal(probe, fmt::format("without_{}", array), BEAM_BAD_ARGUMENT, how);
  }
}

void unsupported_requests(Probe& probe) {
  Asking how;
  how.changed = [](BeamArgs& args) { args.abi_version = BEAM_ABI_VERSION + 1; };
  expect_refusal(probe, "later_abi", BEAM_UNSUPPORTED, how);
  how.changed = [](BeamArgs& args) { args.device = 7; };
  expect_refusal(probe, "unknown_device", BEAM_UNSUPPORTED, how);
}

// The model refuses a request: its number comes back, and it is left alone. The next call is as
// good as any.
void model_failure(Probe& probe) {
  for (std::int64_t request = 1; request <= 3; ++request) {
    Rng rng = probe.begin_case(fmt::format("request_{}", request));
    const Posed posed = small_problem(
        rng, [&](const Language&, const Decoded& want) { return want.steps > request; });
    Asking how;
    how.fail_at = request;
    const std::int64_t high = rng.integer(1, 1000) << 32;  // lost in 32 bits
    how.refusal = request == 1 ? high : request == 2 ? rng.integer(1, 1000) : -high - 3;
    const Answer answer = ask(
        posed.problem, Rng(rng.seed()), [&](CallBase& call) { probe.run(call); }, how);
    if (!answer.tally.fault.empty()) probe.fail(answer.tally.fault);
    if (answer.returned != how.refusal)
      probe.fail(
          fmt::format("returned {} when the model returned {}", answer.returned, how.refusal));
    expect_right(probe, rng, posed.problem, posed.want);
  }
}

// An empty batch, steps that nobody wants, and what may be null when there is nothing of it.
void optional_outputs(Probe& probe) {
  for (const std::int32_t policy : {BEAM_POOLED, BEAM_SEPARATE}) {
    Rng rng = probe.begin_case(fmt::format("policy_{}_without_steps", policy));
    Posed posed = small_problem(rng);
    posed.problem.settings.policy = policy;
    posed = pose_random(rng, posed.problem.settings, 3);
    expect_right_without(probe, rng, posed, "steps");
  }
  Rng rng = probe.begin_case("empty_batch");
  expect_right(probe, rng, pose_random(rng, random_settings(rng, BEAM_SEPARATE), 0).problem);
  rng = probe.begin_case("without_eos");
  Settings endless = random_settings(rng, BEAM_SEPARATE);
  endless.eos.clear();
  expect_right_without(probe, rng, pose_random(rng, endless, 3), "eos");
  for (const char* array : {"step", "tokens"}) {
    rng = probe.begin_case(fmt::format("no_step_and_no_{}", array));
    Settings stepless = random_settings(rng, BEAM_POOLED);
    stepless.max_new = stepless.min_new = 0;
    expect_right_without(probe, rng, pose_random(rng, stepless, 3), array);
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
