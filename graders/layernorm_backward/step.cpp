#include "step.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr Placement kSavedPlacement{64, 0};

void add_parameters(Call<LayernormArgs>& call, const Problem& problem) {
  if (!problem.gamma.empty()) call.in("gamma", call.args.gamma, problem.gamma, problem.placement);
  if (!problem.beta.empty()) call.in("beta", call.args.beta, problem.beta, problem.placement);
}

bool is_poison(float value) {
  return std::bit_cast<std::uint32_t>(value) == 0xffffffffu;
}

}  // namespace

LayernormArgs scalars_of(const Problem& problem) {
  LayernormArgs args{};
  args.abi_version = LAYERNORM_ABI_VERSION;
  args.struct_size = static_cast<std::int32_t>(sizeof(LayernormArgs));
  args.device = LAYERNORM_HOST;
  args.num_threads = problem.threads;
  args.deterministic = problem.deterministic ? 1 : 0;
  args.min_align = kit::guaranteed_alignment(problem.placement);
  args.data_type = LAYERNORM_F32;
  args.parameter_type = LAYERNORM_F32;
  args.rows = problem.rows;
  args.cols = problem.cols;
  args.x_row_stride = problem.x.stride();
  args.dy_row_stride = problem.dy.stride();
  args.y_row_stride = problem.dx_stride;
  args.dx_row_stride = problem.dx_stride;
  args.eps = problem.eps;
  return args;
}

std::int64_t ask_saved_bytes(Probe& probe, const Problem& problem) {
  Call<LayernormArgs> call("layernorm_saved_bytes");
  call.args = scalars_of(problem);
  probe.run(call);
  const std::int64_t sane = 16 * problem.rows * (problem.cols + 16) + (std::int64_t{1} << 20);
  if (call.returned < 0 || call.returned > sane)
    probe.fail(fmt::format("layernorm_saved_bytes returned {} for {} x {}, want 0 to {}",
                           call.returned, problem.rows, problem.cols, sane));
  return call.returned;
}

void add_forward_inputs(Call<LayernormArgs>& call, const Problem& problem) {
  call.args = scalars_of(problem);
  if (problem.rows > 0) call.in("x", call.args.x, problem.x.all(), problem.placement);
  add_parameters(call, problem);
}

void add_backward_inputs(Call<LayernormArgs>& call, const Problem& problem, const Bytes& saved) {
  add_forward_inputs(call, problem);
  if (problem.rows > 0) call.in("dy", call.args.dy, problem.dy.all(), problem.placement);
  if (!problem.mean.empty()) {
    call.in("mean", call.args.mean, problem.mean, problem.placement);
    call.in("rstd", call.args.rstd, problem.rstd, problem.placement);
  } else if (!saved.empty()) {
    call.in("saved_in", call.args.saved_in, saved, kSavedPlacement);
    call.args.saved_bytes = static_cast<std::int64_t>(saved.size());
  }
}

std::size_t output_elements(const Problem& problem) {
  if (problem.rows == 0) return 0;
  return static_cast<std::size_t>((problem.rows - 1) * problem.dx_stride + problem.cols);
}

std::vector<float> rows_of(Probe& probe, const Problem& problem, std::string_view name,
                           std::span<const float> written) {
  if (problem.dx_stride == problem.cols) return {written.begin(), written.end()};
  std::vector<float> dense;
  dense.reserve(static_cast<std::size_t>(problem.rows * problem.cols));
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    const auto row = written.subspan(static_cast<std::size_t>(i * problem.dx_stride));
    const auto cols = static_cast<std::size_t>(problem.cols);
    dense.insert(dense.end(), row.begin(), row.begin() + problem.cols);
    const auto gap = i + 1 < problem.rows
                         ? row.subspan(cols, static_cast<std::size_t>(problem.dx_stride) - cols)
                         : std::span<const float>();
    if (!std::ranges::all_of(gap, is_poison))
      probe.fail(fmt::format("{} was written between rows {} and {}, which is not part of it", name,
                             i, i + 1));
  }
  return dense;
}

Bytes run_forward(Probe& probe, const Problem& problem, Answer& answer, const Wanted& wanted) {
  const auto saved_bytes = static_cast<std::size_t>(ask_saved_bytes(probe, problem));
  Call<LayernormArgs> call("layernorm_forward");
  add_forward_inputs(call, problem);
  std::optional<Output<float>> y;
  std::optional<Output<std::uint8_t>> saved;
  if (wanted.y && problem.rows > 0)
    y = call.out<float>("y", call.args.y, output_elements(problem), problem.placement);
  if (saved_bytes > 0)
    saved = call.out<std::uint8_t>("saved_out", call.args.saved_out, saved_bytes, kSavedPlacement);
  call.args.saved_bytes = static_cast<std::int64_t>(saved_bytes);
  probe.run_ok(call);
  if (y) answer.y = rows_of(probe, problem, "y", y->view());
  return saved ? saved->copy() : Bytes();
}

void run_backward(Probe& probe, const Problem& problem, const Bytes& saved, Answer& answer,
                  const Wanted& wanted) {
  Call<LayernormArgs> call("layernorm_backward");
  add_backward_inputs(call, problem, saved);
  const auto cols = static_cast<std::size_t>(problem.cols);
  std::optional<Output<float>> dx, dgamma, dbeta;
  if (wanted.dx && problem.rows > 0)
    dx = call.out<float>("dx", call.args.dx, output_elements(problem), problem.placement);
  if (wanted.dgamma) dgamma = call.out<float>("dgamma", call.args.dgamma, cols, problem.placement);
  if (wanted.dbeta) dbeta = call.out<float>("dbeta", call.args.dbeta, cols, problem.placement);
  probe.run_ok(call);
  if (dx) answer.dx = rows_of(probe, problem, "dx", dx->view());
  if (dgamma) answer.dgamma = dgamma->copy();
  if (dbeta) answer.dbeta = dbeta->copy();
}

Answer run_step(Probe& probe, const Problem& problem, const Wanted& wanted) {
  Answer answer;
  Bytes saved;
  if (problem.mean.empty()) saved = run_forward(probe, problem, answer, wanted);
  run_backward(probe, problem, saved, answer, wanted);
  return answer;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
