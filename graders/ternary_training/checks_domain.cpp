// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "domain.h"
#include "drawing.h"
#include "drawing_models.h"
#include "harness/grading/grader.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Assignment;

CallOptions with_other_threads(CallOptions options) {
  options.threads = options.threads == 2 ? 5 : 2;
  return options;
}

void ask_quantizer(Probe& probe, const Assignment& choice, Rng& rng) {
  const QuantizeProblem problem = quantize_problem_of(choice, rng);
  const CallOptions options = options_of(choice);
  const auto before = [&](const char* name) { return choice.is("before", name); };
  if (before("a weight differed")) {
    QuantizeProblem other = problem;
    other.weight = with_another_weight(choice, rng, problem.weight);
    require_quantized(probe, other, options);
  }
  if (before("another size"))
    require_quantized(probe, coarse_matrix(rng, problem.rows + 1, 2, problem.group), options);
  if (before("other threads")) require_quantized(probe, problem, with_other_threads(options));
  if (before("a refusal")) {
    QuantizeCall call(problem, options);
    call.args.group = 0;
    probe.run(call);
  }
  require_quantized(probe, problem, options);
}

void ask_layer(Probe& probe, const Assignment& choice, Rng& rng) {
  const LinearProblem problem = linear_problem_of(choice, rng);
  const CallOptions options = options_of(choice);
  const auto before = [&](const char* name) { return choice.is("before", name); };
  LinearProblem other = problem;
  if (before("a weight differed")) other.weight = with_another_weight(choice, rng, problem.weight);
  if (before("an x differed")) any_of(rng, other.x) = 2.5F;
  if (before("a gradient differed")) any_of(rng, other.output_gradient) = 2.5F;
  if (before("another size"))
    other = linear_problem(rng, problem.rows + 1, 2, problem.group, problem.count);
  if (before("a refusal")) {
    GradientCall call(problem, options);
    call.args.count = 0;
    probe.run(call);
  } else if (!before("nothing")) {
    require_layer(probe, other, before("other threads") ? with_other_threads(options) : options);
  }
  require_layer(probe, problem, options);
}

/// What the solution sees of a model before it is asked: mostly at the same addresses.
void ask_before(Probe& probe, const Assignment& choice, Rng& rng, const ForwardProblem& problem,
                const CallOptions& options) {
  const auto before = [&](const char* name) { return choice.is("before", name); };
  if (before("nothing")) return;
  if (before("a refusal")) {
    std::vector<std::uint8_t> damaged = bytes_of(problem.checkpoint);
    damaged.back() = 0x7f;  // a gain far above 64, or not finite
    ForwardCall call(damaged, problem.token, problem.checkpoint.model.vocab, options);
    return probe.run(call);
  }
  if (before("a model was made")) {
    train(probe, small_request(rng, 0));
    return;
  }
  ForwardProblem other = problem;
  const TernaryModel& model = problem.checkpoint.model;
  TernaryMatrix& matrix = any_of(rng, other.checkpoint.matrices);
  if (before("a code differed")) {
    std::int8_t& code = any_of(rng, matrix.codes);
    code = static_cast<std::int8_t>(code == 1 ? -1 : code + 1);
  }
  if (before("a scale differed")) any_of(rng, matrix.scales) = 0x3c00;
  if (before("a gain differed")) any_of(rng, other.checkpoint.gains) = 3;
  if (before("matrices in other places")) exchange_keys_and_values(other.checkpoint);
  if (before("a token differed"))
    any_of(rng, other.token) = static_cast<std::uint16_t>(rng.integer(0, model.vocab - 1));
  if (before("a token less") && other.token.size() > 1) other.token.pop_back();
  if (before("another model")) other.checkpoint = random_checkpoint(rng, model);
  require_logits(probe, other.checkpoint, other.token,
                 before("other threads") ? with_other_threads(options) : options);
}

void ask_forward(Probe& probe, const Assignment& choice, Rng& rng) {
  const ForwardProblem problem = forward_problem_of(choice, rng);
  const CallOptions options = options_of(choice);
  ask_before(probe, choice, rng, problem, options);
  require_logits(probe, problem.checkpoint, problem.token, options);
}

// ---------------------------------------------------------------- training

/// What the outputs and the reports have to say besides what is in the checkpoint. `asked`: reports
/// up to the one that asked to end.
void require_told(Probe& probe, const TrainedModel& trained, std::int64_t asked) {
  constexpr double kUncertain = 0.1;  // nats: far above what a model sure of all tokens has
  const TrainingResult& result = trained.result;
  const auto& reports = result.reports;
  if (reports.empty()) probe.fail("progress was never called");
  for (std::size_t i = 1; i < reports.size(); ++i)
    if (reports[i].progress.steps < reports[i - 1].progress.steps ||
        reports[i].progress.tokens_seen < reports[i - 1].progress.tokens_seen)
      probe.fail(fmt::format("the counts of report {} are below those of the one before", i));
  if (asked == 0 && reports.back().progress.tokens_seen != result.tokens_seen)
    probe.fail(fmt::format("the last report has {} tokens; tokens_seen is {}",
                           reports.back().progress.tokens_seen, result.tokens_seen));
  if (asked > 0 && std::ssize(reports) > asked + 1)
    probe.fail(fmt::format("progress was called {} times after it had asked to end",
                           std::ssize(reports) - asked));
  if (!std::isnan(result.held_out_nll) &&
      !(std::isfinite(result.held_out_nll) && result.held_out_nll >= 0))
    probe.fail(fmt::format("held_out_nll is {}", result.held_out_nll));
  if (result.held_out_nll == 0 && trained.train_nll > kUncertain)
    probe.fail(
        fmt::format("held_out_nll is 0, as if the model were sure of unseen text; the text "
                    "that it was trained on has {:.3g}",
                    trained.train_nll));
}

/// Trains as the classes say, and requires what does not depend on how well.
TrainingResult require_told_of(Probe& probe, const Assignment& choice, TrainingRequest request) {
  // All that is asked here takes milliseconds: so much is no busy machine's.
  constexpr double kEndless = 3;
  std::int64_t heard = 0;
  std::int64_t asked = 0;
  request.enough = [&](const TernaryProgress&, double seconds) {
    ++heard;
    const bool enough = choice.is("stop", "at once") ||
                        (choice.is("stop", "at the second report") && heard >= 2) ||
                        seconds > kEndless;
    if (enough && asked == 0) asked = heard;
    return enough;
  };
  const TrainedModel trained = require_trained(probe, request);
  if (trained.result.seconds > kEndless)
    probe.fail(fmt::format("the call took {:.1f} s, max_seconds is {} and max_tokens {}",
                           trained.result.seconds, request.max_seconds, request.max_tokens));
  require_train_nll(probe, trained.result.train_nll, trained.train_nll);
  require_told(probe, trained, asked);
  return trained.result;
}

void train_before(Probe& probe, const Assignment& choice, Rng& rng, TrainingRequest request) {
  const auto before = [&](const char* name) { return choice.is("training before", name); };
  if (before("a refusal")) {
    TrainingCall call(request);
    call.args.num_threads = 0;
    return probe.run(call);
  }
  if (before("another model")) request = small_request(rng, 50);
  ++request.seed;
  if (before("another text"))
    for (Text& text : request.documents)
      for (std::uint16_t& id : text) id = static_cast<std::uint16_t>(request.model.vocab - 1 - id);
  if (!before("nothing") && !before("the same")) train(probe, request);
}

void ask_training(Probe& probe, const Assignment& choice, Rng& rng) {
  const TrainingRequest request = training_request_of(choice, rng);
  train_before(probe, choice, rng, request);
  const TrainingResult result = require_told_of(probe, choice, request);
  if (!choice.is("training before", "the same") || !choice.is("stop", "never")) return;
  const TrainingResult again = require_told_of(probe, choice, request);
  if (request.options.threads == 1 && request.max_seconds < 0 && again.bytes != result.bytes)
    probe.fail("the same call again gave another checkpoint");
}

}  // namespace

std::vector<Check> domain_checks() {
  return kit::domain_checks({{&quantize_domain(), ask_quantizer},
                             {&layer_domain(), ask_layer},
                             {&forward_domain(), ask_forward},
                             {&training_domain(), ask_training}});
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
