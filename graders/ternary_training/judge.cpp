// SPDX-License-Identifier: Apache-2.0
#include "judge.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "graders/kit/compare.h"
#include "half.h"
#include "quantizer.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

int code_at(std::span<const std::uint8_t> codes, std::size_t i) {
  return (codes[i / 4] >> (2 * (i % 4)) & 3) - 1;
}

/// The group that a fault is in: weights, wanted and written codes.
std::vector<std::string> draw_group(const QuantizeProblem& problem, const TernaryMatrix& want,
                                    std::span<const std::uint8_t> codes, std::size_t at) {
  constexpr std::size_t kShown = 12;
  const auto group = static_cast<std::size_t>(problem.group);
  const std::size_t begin = at / group * group;
  const std::size_t from = std::max(begin, at >= kShown / 2 ? at - kShown / 2 : 0);
  const std::size_t to = std::min(begin + group, from + kShown);
  std::string weights = "weights:";
  std::string wanted = "wanted: ";
  std::string written = "written:";
  for (std::size_t i = from; i < to; ++i) {
    weights += fmt::format(" {:>11.6g}", problem.weight[i]);
    wanted += fmt::format(" {:>11d}", want.codes[i]);
    written += fmt::format(" {:>11d}", code_at(codes, i));
  }
  return {weights, wanted, written};
}

void require_parts(Probe& probe, const LinearProblem& problem, std::span<const Part> parts,
                   const CallOptions& options) {
  GradientCall call(problem, options);
  probe.run_ok(call);
  const ExpectedLinear want = expect(problem);
  struct Compared {
    const char* name;
    const Output<float>& got;
    const Sums& want;
    std::int64_t width;
  };
  const Compared all[] = {
      {"y", *call.y, want.y, problem.rows},
      {"input_gradient", *call.input_gradient, want.input_gradient, problem.columns},
      {"weight_gradient", *call.weight_gradient, want.weight_gradient, problem.columns}};
  for (const Part part : parts) {
    const Compared& one = all[static_cast<int>(part)];
    probe.require(kit::worst_miss(
        one.got.view(), one.want.value, one.want.allowed(),
        kit::index_namer(one.name, {std::ssize(one.want.value) / one.width, one.width})));
  }
}

}  // namespace

void require_quantized(Probe& probe, const QuantizeProblem& problem, const CallOptions& options) {
  QuantizeCall call(problem, options);
  probe.run_ok(call);
  const TernaryMatrix want =
      quantized(problem.weight, problem.rows, problem.columns, problem.group);
  const auto codes = call.codes->view();
  const auto scales = call.scales->view();
  const auto columns = static_cast<std::size_t>(problem.columns);
  const auto group = static_cast<std::size_t>(problem.group);
  const std::size_t groups = columns / group;
  for (std::size_t i = 0; i < scales.size(); ++i)
    if (scales[i] != want.scales[i])
      probe.fail(
          fmt::format("row {}, group {}: the scale is {} (bits 0x{:04x}), want {} (0x{:04x})",
                      i / groups, i % groups, half_value(scales[i]), scales[i],
                      half_value(want.scales[i]), want.scales[i]),
          draw_group(problem, want, codes, i * group));
  for (std::size_t i = 0; i < want.codes.size(); ++i)
    if (code_at(codes, i) != want.codes[i])
      probe.fail(
          fmt::format("row {}, column {}: t is {}, want {}; the weight is {}, half the scale {}",
                      i / columns, i % columns, code_at(codes, i), want.codes[i], problem.weight[i],
                      half_value(want.scales[i / group]) / 2),
          draw_group(problem, want, codes, i));
}

void require_logits(Probe& probe, const Checkpoint& checkpoint, const Text& token,
                    const CallOptions& options) {
  const std::vector<std::uint8_t> bytes = bytes_of(checkpoint);
  ForwardCall call(bytes, token, checkpoint.model.vocab, options);
  probe.run_ok(call);
  const ExpectedLogits want = expect(checkpoint, token);
  const auto name = kit::index_namer("logits", {std::ssize(token), checkpoint.model.vocab});
  if (kit::worst_miss(call.logits->view(), want.logits, want.allowed, name))
    probe.require(kit::worst_miss(call.logits->view(), want.logits,
                                  allowed_where_cancelled(checkpoint, token, want), name));
}

void require_gradient(Probe& probe, const LinearProblem& problem, Part part,
                      const CallOptions& options) {
  require_parts(probe, problem, {&part, 1}, options);
}

void require_layer(Probe& probe, const LinearProblem& problem, const CallOptions& options) {
  require_parts(probe, problem, kParts, options);
}

Checkpoint require_checkpoint(Probe& probe, const TrainingRequest& request,
                              const TrainingResult& result) {
  if (const std::int64_t want = checkpoint_bytes_of(request.model); result.checkpoint_bytes != want)
    probe.fail(fmt::format("checkpoint_bytes is {}; {} have {}", result.checkpoint_bytes,
                           describe(request.model), want));
  try {
    Checkpoint checkpoint = read_checkpoint(result.bytes);
    if (!same_model(checkpoint.model, request.model))
      probe.fail(fmt::format("the checkpoint has {}; asked for were {}", describe(checkpoint.model),
                             describe(request.model)));
    return checkpoint;
  } catch (const BadCheckpoint& bad) {
    probe.fail(fmt::format("the checkpoint is none: {}", bad.what()));
  }
}

TrainedModel require_trained(Probe& probe, const TrainingRequest& request) {
  TrainedModel trained{train(probe, request), {}, 0};
  trained.checkpoint = require_checkpoint(probe, request, trained.result);
  trained.train_nll =
      likelihood_of(Network(trained.checkpoint), claimed_text(request.documents)).mean();
  if (const std::int64_t seen = trained.result.tokens_seen;
      request.max_tokens >= 0 && !(seen >= 0 && seen <= request.max_tokens))
    probe.fail(fmt::format("tokens_seen is {}, max_tokens {}", seen, request.max_tokens));
  return trained;
}

// train_nll is defined to the token, so that only rounding is left: honest variants are within
// 1e-5 of it.
void require_train_nll(Probe& probe, double claimed, double measured) {
  if (!(std::abs(claimed - measured) <= 1e-3 * measured))
    probe.fail(fmt::format("train_nll is {:.5f}; the checkpoint gives that text {:.5f}", claimed,
                           measured));
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
