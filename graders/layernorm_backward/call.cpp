// SPDX-License-Identifier: Apache-2.0
#include "call.h"

#include <algorithm>
#include <fmt/format.h>

#include "graders/kit/bits.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

template <class Field>
void add_input(Call<LayernormArgs>& call, const char* name, const Field* const& field,
               const std::vector<float>& data, const CallOptions& options) {
  if (!data.empty() && options.missing != name) call.in(name, field, data, options.placed(name));
}

/// True where an array of rows has none, and yet a pointer.
bool points_to_nothing(const Problem& problem, const CallOptions& options) {
  return problem.rows == 0 && options.empty_at_address;
}

/// An input with a stride.
template <class Field>
void add_rows(Call<LayernormArgs>& call, const char* name, const Field* const& field,
              const Problem& problem, const Rows& rows, const CallOptions& options) {
  if (points_to_nothing(problem, options)) {
    if (options.missing != name) call.in(name, field, rows.all(), options.placed(name));
    return;
  }
  if (!options.is_far(name) || problem.rows == 0)
    return add_input(call, name, field, rows.all(), options);
  std::vector<std::span<const float>> parts;
  for (std::int64_t i = 0; i < problem.rows; ++i) parts.push_back(rows.row(i));
  call.in_parts(name, field, parts, options.far->stride, options.placed(name));
}

/// The rows of an output that is far; none of any other.
template <class Field>
std::vector<Output<float>> add_far_output(Call<LayernormArgs>& call, const char* name,
                                          Field* const& field, const Problem& problem,
                                          const CallOptions& options) {
  if (!options.is_far(name)) return {};
  return call.out_parts<float>(name, field, static_cast<std::size_t>(problem.rows),
                               static_cast<std::size_t>(problem.cols), options.far->stride,
                               options.placed(name));
}

/// `old` is where the output's former contents are kept, when there are some.
template <class Field>
std::optional<Output<float>> add_output(Call<LayernormArgs>& call, const char* name,
                                        Field* const& field, std::size_t count,
                                        const CallOptions& options, std::vector<float>& old) {
  if (count == 0 || options.is_far(name)) return std::nullopt;
  if (!options.old) return call.out<float>(name, field, count, options.placed(name));
  old.assign(count, *options.old);
  return call.inout(name, field, old, options.placed(name));
}

void add_scalars(Call<LayernormArgs>& call, const Problem& problem, const CallOptions& options) {
  LayernormArgs& args = call.args;
  constexpr std::uint64_t kHostCopyBytes = 256;  // by the contract
  kit::set_header(call, LAYERNORM_ABI_VERSION, LAYERNORM_HOST, LAYERNORM_CUDA, kHostCopyBytes,
                  options);
  args.data_type = LAYERNORM_F32;
  args.parameter_type = LAYERNORM_F32;
  args.rows = problem.rows;
  args.cols = problem.cols;
  args.eps = problem.eps;
}

/// After the arrays: the stride of one that is not given may be anything.
void add_strides(Call<LayernormArgs>& call, const Problem& problem, const CallOptions& options) {
  const auto stride = [&](const char* name, std::int64_t own) {
    const bool given =
        std::ranges::find(call.buffers(), name, &Buffer::name) != call.buffers().end();
    if (options.is_far(name)) return options.far->stride;
    return given ? own : options.absent_stride.value_or(own);
  };
  call.args.x_row_stride = stride("x", problem.x.stride());
  call.args.dy_row_stride = stride("dy", problem.dy.stride());
  call.args.y_row_stride = stride("y", problem.y_stride);
  call.args.dx_row_stride = stride("dx", problem.dx_stride);
}

/// What both passes read.
void add_common_inputs(Call<LayernormArgs>& call, const Problem& problem,
                       const CallOptions& options) {
  add_scalars(call, problem, options);
  add_rows(call, "x", call.args.x, problem, problem.x, options);
  add_input(call, "gamma", call.args.gamma, problem.gamma, options);
  add_input(call, "beta", call.args.beta, problem.beta, options);
}

/// Elements of y or dx, gaps included.
std::size_t output_elements(const Problem& problem, std::int64_t stride) {
  if (problem.rows == 0) return 0;
  return static_cast<std::size_t>((problem.rows - 1) * stride + problem.cols);
}

/// True when all elements still are what they were before the call.
bool untouched(std::span<const float> elements, const std::optional<float>& old) {
  if (!old) return kit::is_poison(elements);
  return std::ranges::all_of(elements, [&](float value) {
    return kit::same_bits(std::span(&value, 1), std::span(&*old, 1));
  });
}

template <class AnyCall>
void add_other(AnyCall& call, const char* name, void* const& field, std::size_t count,
               const CallOptions& options) {
  if (count == 0) return;
  call.template out<float>(name, field, count, options.placed(name));
  call.others.emplace_back(name);
}

/// Fails the check when an output of the other pass was written.
template <class AnyCall>
void require_others_untouched(Probe& probe, const AnyCall& call) {
  for (const std::string& name : call.others)
    if (!kit::is_poison(call.buffer(name).result))
      probe.fail(fmt::format("{} was written by {}, whose output it is not", name, call.symbol));
}

/// Takes the rows out of an output with gaps. Fails the check when a gap was written.
std::vector<float> rows_of(Probe& probe, const Problem& problem, std::string_view name,
                           std::int64_t stride, std::span<const float> written,
                           const CallOptions& options) {
  const auto cols = static_cast<std::size_t>(problem.cols);
  std::vector<float> dense;
  dense.reserve(static_cast<std::size_t>(problem.rows) * cols);
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    const auto row = written.subspan(static_cast<std::size_t>(i * stride));
    dense.insert(dense.end(), row.begin(), row.begin() + problem.cols);
    if (i + 1 < problem.rows &&
        !untouched(row.subspan(cols, static_cast<std::size_t>(stride) - cols), options.old))
      probe.fail(fmt::format("{} was written between rows {} and {}, which is not part of it", name,
                             i, i + 1));
  }
  return dense;
}

/// A call of the same step, put otherwise.
CallOptions otherwise(CallOptions options) {
  options.deterministic = options.deterministic == 0 ? 1 : 0;
  options.placement = options.placement.alignment > 16 ? Placement{16, 4} : Placement{};
  options.displaced = {};
  return options;
}

CallOptions of_bytes(const CallOptions& options) {
  return options.passes == Passes::bytes_otherwise ? otherwise(options) : options;
}

CallOptions of_forward(const CallOptions& options) {
  return options.passes == Passes::forward_otherwise ? otherwise(options) : options;
}

CallOptions of_backward(CallOptions options) {
  if (options.passes == Passes::beta_in_forward) options.missing = "beta";
  return options;
}

/// The problem, or what `moved` is made: the same with x elsewhere.
const Problem& of_backward(const Problem& problem, const CallOptions& options, Problem& moved) {
  if (options.passes != Passes::x_elsewhere) return problem;
  moved = with_x_stride(problem, problem.x.stride() + 3);
  return moved;
}

/// Where saved bytes lie. Elsewhere: their addresses in the two passes differ modulo every
/// alignment beyond the 64 that the contract gives them.
Placement saved_placement(const CallOptions& options, bool forward) {
  if (options.passes != Passes::saved_elsewhere) return {};
  constexpr std::size_t kPage = 4096;
  return {kPage, forward ? std::size_t{64} : std::size_t{0}};
}

std::vector<float> joined(const std::vector<Output<float>>& rows) {
  std::vector<float> dense;
  for (const Output<float>& row : rows)
    dense.insert(dense.end(), row.view().begin(), row.view().end());
  return dense;
}

}  // namespace

SavedBytesCall::SavedBytesCall(const Problem& problem, const CallOptions& options)
    : Call("layernorm_saved_bytes") {
  add_scalars(*this, problem, options);
  add_strides(*this, problem, options);
}

ForwardCall::ForwardCall(const Problem& problem, std::int64_t saved_bytes,
                         const CallOptions& options)
    : Call("layernorm_forward") {
  add_common_inputs(*this, problem, options);
  args.saved_bytes = saved_bytes;
  if (saved_bytes > 0 || options.empty_at_address)
    saved_out =
        out<std::uint8_t>("saved_out", args.saved_out, static_cast<std::size_t>(saved_bytes),
                          saved_placement(options, true));
  y = add_output(*this, "y", args.y, options.y ? output_elements(problem, problem.y_stride) : 0,
                 options, old_y);
  if (options.y && points_to_nothing(problem, options))
    y = out<float>("y", args.y, 0, options.placed("y"));
  if (options.y) far_y = add_far_output(*this, "y", args.y, problem, options);
  if (options.others_given) {
    const auto cols = static_cast<std::size_t>(problem.cols);
    add_input(*this, "dy", args.dy, problem.dy.all(), options);
    add_other(*this, "dx", args.dx, output_elements(problem, problem.dx_stride), options);
    add_other(*this, "dgamma", args.dgamma, cols, options);
    add_other(*this, "dbeta", args.dbeta, cols, options);
  }
  add_strides(*this, problem, options);
}

BackwardCall::BackwardCall(const Problem& problem, const Bytes& saved, const CallOptions& options)
    : Call("layernorm_backward") {
  add_common_inputs(*this, problem, options);
  add_rows(*this, "dy", args.dy, problem, problem.dy, options);
  add_input(*this, "mean", args.mean, problem.mean, options);
  add_input(*this, "rstd", args.rstd, problem.rstd, options);
  args.saved_bytes = std::ssize(saved);
  if (!saved.empty() || (options.empty_at_address && problem.mean.empty())) {
    const Placement placement = saved_placement(options, false);
    if (options.saved_stays)
      inout("saved_in", args.saved_in, saved, placement);
    else
      in("saved_in", args.saved_in, saved, placement);
  }
  const auto cols = static_cast<std::size_t>(problem.cols);
  dx = add_output(*this, "dx", args.dx,
                  options.dx ? output_elements(problem, problem.dx_stride) : 0, options, old_dx);
  if (options.dx && points_to_nothing(problem, options))
    dx = out<float>("dx", args.dx, 0, options.placed("dx"));
  if (options.dx) far_dx = add_far_output(*this, "dx", args.dx, problem, options);
  dgamma = add_output(*this, "dgamma", args.dgamma, options.dgamma ? cols : 0, options, old_dgamma);
  dbeta = add_output(*this, "dbeta", args.dbeta, options.dbeta ? cols : 0, options, old_dbeta);
  if (options.others_given)
    add_other(*this, "y", args.y, output_elements(problem, problem.y_stride), options);
  add_strides(*this, problem, options);
}

std::int64_t ask_saved_bytes(Probe& probe, const Problem& problem, const CallOptions& options) {
  SavedBytesCall call(problem, of_bytes(options));
  probe.run(call);
  const std::int64_t sane = 16 * problem.rows * (problem.cols + 16) + (std::int64_t{1} << 20);
  if (call.returned < 0 || call.returned > sane)
    probe.fail(fmt::format("layernorm_saved_bytes returned {} for {} x {}, want 0 to {}",
                           call.returned, problem.rows, problem.cols, sane));
  return call.returned;
}

Bytes run_forward(Probe& probe, const Problem& problem, Answer& answer,
                  const CallOptions& options) {
  ForwardCall call(problem, ask_saved_bytes(probe, problem, options), of_forward(options));
  probe.run_ok(call);
  require_others_untouched(probe, call);
  if (call.y) answer.y = rows_of(probe, problem, "y", problem.y_stride, call.y->view(), options);
  if (options.is_far("y")) answer.y = joined(call.far_y);
  return call.saved();
}

void run_backward(Probe& probe, const Problem& problem, const Bytes& saved, Answer& answer,
                  const CallOptions& options) {
  Problem moved;
  BackwardCall call(of_backward(problem, options, moved), saved, of_backward(options));
  probe.run_ok(call);
  require_others_untouched(probe, call);
  if (options.saved_stays && !saved.empty() &&
      !std::ranges::equal(std::as_bytes(std::span(saved)), call.buffer("saved_in").result))
    probe.fail("saved_in was written, which is an input of layernorm_backward");
  Answer gradients = gradients_of(probe, problem, call, options);
  gradients.y = std::move(answer.y);
  answer = std::move(gradients);
}

Answer gradients_of(Probe& probe, const Problem& problem, const BackwardCall& call,
                    const CallOptions& options) {
  Answer answer;
  if (call.dx)
    answer.dx = rows_of(probe, problem, "dx", problem.dx_stride, call.dx->view(), options);
  if (options.is_far("dx")) answer.dx = joined(call.far_dx);
  if (call.dgamma) answer.dgamma = call.dgamma->copy();
  if (call.dbeta) answer.dbeta = call.dbeta->copy();
  return answer;
}

Answer run_step(Probe& probe, const Problem& problem, const CallOptions& options) {
  Answer answer;
  Bytes saved;
  if (problem.mean.empty()) saved = run_forward(probe, problem, answer, options);
  run_backward(probe, problem, saved, answer, options);
  return answer;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
