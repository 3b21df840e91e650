#include "unit.h"

#include <fmt/format.h>

#include "graders/kit/compare.h"
#include "graders/kit/inputs.h"
#include "half.h"
#include "oracle.h"
#include "quantizer.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

template <class Args>
void set_run(Args& args, const Manner& manner) {
  args.abi_version = TERNARY_ABI_VERSION;
  args.struct_size = static_cast<std::int32_t>(sizeof args);
  args.device = TERNARY_HOST;
  args.num_threads = manner.threads;
  args.min_align = kit::guaranteed_alignment(manner.placement);
}

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

}  // namespace

QuantizeCall::QuantizeCall(const QuantizeProblem& problem, const Manner& manner) {
  TernaryQuantizeArgs& args = call.args;
  set_run(args, manner);
  args.rows = problem.rows;
  args.columns = problem.columns;
  args.group = problem.group;
  const std::size_t weights = problem.weight.size();
  call.in("weight", args.weight, problem.weight, manner.placement);
  codes = call.out<std::uint8_t>("codes", args.codes, weights / 4, manner.placement);
  scales = call.out<std::uint16_t>("scales", args.scales,
                                   weights / static_cast<std::size_t>(problem.group),
                                   manner.placement, ElementType::f16);
}

GradientCall::GradientCall(const LinearProblem& problem, const Manner& manner) {
  TernaryLinearGradientArgs& args = call.args;
  set_run(args, manner);
  args.rows = problem.rows;
  args.columns = problem.columns;
  args.group = problem.group;
  args.count = problem.count;
  const Placement& placement = manner.placement;
  call.in("weight", args.weight, problem.weight, placement);
  call.in("x", args.x, problem.x, placement);
  call.in("output_gradient", args.output_gradient, problem.output_gradient, placement);
  y = call.out<float>("y", args.y, problem.output_gradient.size(), placement);
  input_gradient =
      call.out<float>("input_gradient", args.input_gradient, problem.x.size(), placement);
  weight_gradient =
      call.out<float>("weight_gradient", args.weight_gradient, problem.weight.size(), placement);
}

ForwardCall::ForwardCall(const std::vector<std::uint8_t>& checkpoint, const Text& token,
                         std::int64_t vocab, const Manner& manner) {
  TernaryForwardArgs& args = call.args;
  set_run(args, manner);
  args.checkpoint_bytes = std::ssize(checkpoint);
  args.num_tokens = std::ssize(token);
  call.in("checkpoint", args.checkpoint, checkpoint, manner.placement);
  call.in("token", args.token, token, manner.placement);
  logits = call.out<float>("logits", args.logits, token.size() * static_cast<std::size_t>(vocab),
                           manner.placement);
}

std::optional<Fault> fault_in(const QuantizeProblem& problem, const TernaryMatrix& want,
                              const QuantizeCall& answer) {
  const auto codes = answer.codes->view();
  const auto scales = answer.scales->view();
  const auto groups = static_cast<std::size_t>(problem.columns / problem.group);
  const auto columns = static_cast<std::size_t>(problem.columns);
  const auto group = static_cast<std::size_t>(problem.group);
  for (std::size_t i = 0; i < scales.size(); ++i)
    if (scales[i] != want.scales[i])
      return Fault{
          fmt::format("row {}, group {}: the scale is {} (bits 0x{:04x}), want {} (0x{:04x})",
                      i / groups, i % groups, half_value(scales[i]), scales[i],
                      half_value(want.scales[i]), want.scales[i]),
          draw_group(problem, want, codes, i * group),
          {}};
  for (std::size_t i = 0; i < want.codes.size(); ++i)
    if (code_at(codes, i) != want.codes[i])
      return Fault{
          fmt::format("row {}, column {}: t is {}, want {}; the weight is {}, half the scale {}",
                      i / columns, i % columns, code_at(codes, i), want.codes[i], problem.weight[i],
                      half_value(want.scales[i / group]) / 2),
          draw_group(problem, want, codes, i),
          {}};
  return std::nullopt;
}

std::optional<Fault> fault_in(const LinearProblem& problem, const LinearAnswer& want,
                              const GradientCall& answer, Part part) {
  struct Compared {
    const char* name;
    const Output<float>& got;
    const Sums& want;
    std::int64_t width;
  };
  const Compared all[] = {
      {"y", *answer.y, want.y, problem.rows},
      {"input_gradient", *answer.input_gradient, want.input_gradient, problem.columns},
      {"weight_gradient", *answer.weight_gradient, want.weight_gradient, problem.columns}};
  const Compared& one = all[static_cast<int>(part)];
  const auto miss = kit::worst_miss(
      one.got.view(), one.want.value, one.want.allowed(),
      kit::index_namer(one.name, {std::ssize(one.want.value) / one.width, one.width}));
  if (!miss) return std::nullopt;
  return Fault{describe(*miss), {}, miss};
}

void fail(Probe& probe, Fault fault) {
  if (fault.miss) probe.fail(*fault.miss, std::move(fault.evidence));
  probe.fail(std::move(fault.summary), std::move(fault.evidence));
}

void require_quantized(Probe& probe, const QuantizeProblem& problem, const Manner& manner) {
  QuantizeCall answer(problem, manner);
  probe.run_ok(answer.call);
  const TernaryMatrix want =
      quantized(problem.weight, problem.rows, problem.columns, problem.group);
  if (auto fault = fault_in(problem, want, answer)) fail(probe, *std::move(fault));
}

void require_gradient(Probe& probe, const LinearProblem& problem, Part part, const Manner& manner) {
  GradientCall answer(problem, manner);
  probe.run_ok(answer.call);
  if (auto fault = fault_in(problem, linear_answer(problem), answer, part))
    fail(probe, *std::move(fault));
}

void require_logits(Probe& probe, const Checkpoint& checkpoint, const Text& token,
                    const Manner& manner) {
  const std::vector<std::uint8_t> bytes = bytes_of(checkpoint);
  ForwardCall answer(bytes, token, checkpoint.model.vocab, manner);
  probe.run_ok(answer.call);
  const WantedLogits want = wanted_logits(checkpoint, token);
  const auto name = kit::index_namer("logits", {std::ssize(token), checkpoint.model.vocab});
  probe.require(kit::worst_miss(answer.logits->view(), want.logits, want.allowed, name));
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
