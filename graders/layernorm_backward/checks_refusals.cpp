// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <limits>

#include "domain.h"
#include "graders/kit/device.h"
#include "graders/kit/refusals.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Assignment;
using Args = LayernormArgs;
using Invalid = kit::Invalid<Args>;
using Corners = std::vector<kit::Corner>;
using Beside = std::function<bool(const Assignment&)>;

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kNarrowed = std::int64_t{1} << 32;  // gone where 32 bits are kept

constexpr std::int64_t kBad = LAYERNORM_BAD_ARGUMENT;
constexpr std::int64_t kUnsupported = LAYERNORM_UNSUPPORTED;

bool has_rows(const Assignment& choice) {
  return choice["rows"].least > 0;
}
/// Also of no rows.
bool has_arrays(const Assignment& choice) {
  return has_rows(choice) || choice.is("arrays of no bytes", "at an address");
}
bool has_statistics(const Assignment& choice) {
  return has_rows(choice) && statistics_given(choice);
}
bool has_y(const Assignment& choice) {
  return has_arrays(choice) && choice.is("y", "wanted");
}
bool has_dx(const Assignment& choice) {
  const std::string& wanted = choice["gradients"].name;
  return has_arrays(choice) && (wanted == "all" || wanted.starts_with("dx"));
}

void add_short_strides(std::vector<Invalid>& to, const std::string& argument,
                       std::int64_t Args::*stride, const Beside& beside) {
  const auto add = [&](const char* name, const std::function<std::int64_t(std::int64_t)>& of_cols) {
    to.push_back(
        {{argument + " " + name, [=](Args& a) { a.*stride = of_cols(a.cols); }}, kBad, beside});
  };
  add("cols - 1", [](std::int64_t cols) { return cols - 1; });
  add("0", [](std::int64_t) { return 0; });
  add("-cols", [](std::int64_t cols) { return -cols; });
  add("least", [](std::int64_t) { return kLeast; });
  add("cols - 2^32", [](std::int64_t cols) { return cols - kNarrowed; });
}

/// A session on a device says LAYERNORM_CUDA where nothing else is asked for: that is no flaw then.
void add_devices(std::vector<Invalid>& to, bool on_device) {
  kit::add_values(to, "device", &Args::device, {2, -1, 256, kit::kNarrowed16}, kUnsupported);
  if (!on_device) kit::add_values(to, "device", &Args::device, {1}, kUnsupported);
}

std::vector<Invalid> invalid_in_both(bool on_device) {
  std::vector<Invalid> all;
  kit::add_values(all, "rows", &Args::rows, {std::int64_t{-1}, kLeast}, kBad);
  kit::add_values(all, "cols", &Args::cols, {std::int64_t{0}, std::int64_t{-1}, kLeast}, kBad);
  all.push_back({{"rows - 2^32", [](Args& a) { a.rows -= kNarrowed; }}, kBad});
  all.push_back({{"cols - 2^32", [](Args& a) { a.cols -= kNarrowed; }}, kBad});
  kit::add_values(all, "threads", &Args::num_threads,
                  {0, -1, std::numeric_limits<std::int32_t>::min(), 1 - kit::kNarrowed16}, kBad);
  kit::add_values(all, "eps", &Args::eps,
                  {-1e-5, -1e-300, -5e-324, double{kit::kNan}, -double{kit::kInfinity}}, kBad);
  add_short_strides(all, "x stride", &Args::x_row_stride, has_arrays);
  all.push_back({{.name = "no x", .missing = "x"}, kBad, has_rows});
  kit::add_values(all, "abi", &Args::abi_version, {0, 2, -1, 257, 1 + kit::kNarrowed16},
                  kUnsupported);
  add_devices(all, on_device);
  kit::add_values(all, "data type", &Args::data_type, {3, -1, 256, kit::kNarrowed16}, kUnsupported);
  kit::add_values(all, "parameter type", &Args::parameter_type, {3, -1, 256, kit::kNarrowed16},
                  kUnsupported);
  return all;
}

std::vector<Invalid> invalid_in_forward(bool on_device) {
  std::vector<Invalid> all = invalid_in_both(on_device);
  add_short_strides(all, "y stride", &Args::y_row_stride, has_y);
  return all;
}

std::vector<Invalid> invalid_in_backward(bool on_device) {
  std::vector<Invalid> all = invalid_in_both(on_device);
  add_short_strides(all, "dy stride", &Args::dy_row_stride, has_arrays);
  add_short_strides(all, "dx stride", &Args::dx_row_stride, has_dx);
  all.push_back({{.name = "no dy", .missing = "dy"}, kBad, has_rows});
  all.push_back({{.name = "no mean", .missing = "mean"}, kBad, has_statistics});
  all.push_back({{.name = "no rstd", .missing = "rstd"}, kBad, has_statistics});
  // Of no rows there is nothing to point to, and a pointer may still be given.
  const auto has_no_rows = [](const Assignment& choice) { return !has_rows(choice); };
  const auto* const somewhere = reinterpret_cast<const float*>(std::uintptr_t{4096});
  all.push_back({{"a mean alone", [=](Args& a) { a.mean = somewhere; }}, kBad, has_no_rows});
  all.push_back({{"an rstd alone", [=](Args& a) { a.rstd = somewhere; }}, kBad, has_no_rows});
  return all;
}

/// What a solution may take for a reason to do without an argument that is wrong: no array of a
/// type is given, no output is wanted that an input is needed for, no second row follows.
Corners always_beside(const Invalid& invalid, const kit::Classes& fewer_outputs) {
  const std::string& name = invalid.flaw.name;
  if (invalid.flaw.missing == "mean" || invalid.flaw.missing == "rstd")
    return {{{"statistics", {"given, drawn"}}, fewer_outputs}};
  if (!invalid.flaw.missing.empty()) return {{fewer_outputs}};
  if (name.ends_with(" cols - 1"))
    return {{fewer_outputs},
            {{"rows", {"1"}}},
            {{"rows", {"0"}}, {"arrays of no bytes", {"at an address"}}}};
  if (name.find(" type ") == std::string::npos) return {};
  const kit::Corner no_parameters{{"gamma", {"absent"}}, {"beta", {"absent"}}};
  return {no_parameters, {no_parameters[0], no_parameters[1], fewer_outputs}};
}

template <class AnyCall>
void require_refused(Probe& probe, AnyCall& call, const Invalid& invalid) {
  invalid.flaw.spoil(call.args);
  kit::require_refused(probe, call, invalid.want);
}

/// Puts a spoilt call to the solution: of the forward pass, or of the backward pass with what the
/// forward pass saved for it.
using Refuse = std::function<void(Probe&, const Problem&, const CallOptions&, const Invalid&)>;

void refuse_forward(Probe& probe, const Problem& problem, const CallOptions& options,
                    const Invalid& invalid) {
  const std::int64_t saved = ask_saved_bytes(probe, problem, options);
  CallOptions spoilt = options;
  spoilt.missing = invalid.flaw.missing;
  ForwardCall call(problem, saved, spoilt);
  require_refused(probe, call, invalid);
}

void refuse_backward(Probe& probe, const Problem& problem, const CallOptions& options,
                     const Invalid& invalid) {
  Answer ignored;
  Bytes saved;
  if (problem.mean.empty()) saved = run_forward(probe, problem, ignored, options);
  CallOptions spoilt = options;
  spoilt.missing = invalid.flaw.missing;
  BackwardCall call(problem, saved, spoilt);
  require_refused(probe, call, invalid);
}

/// `between`: the same step is asked before and after, and has to be right both times.
void add_refusals(std::vector<kit::Refusal>& to, Probe& probe, const std::string& function,
                  const std::vector<Invalid>& all, const kit::Classes& fewer_outputs,
                  const Refuse& refuse, bool between) {
  for (const Invalid& invalid : all)
    to.push_back({function + " " + invalid.flaw.name, invalid.beside,
                  [=, &probe](const Assignment& choice, Rng& rng) {
                    const Problem problem = problem_of(choice, rng);
                    const CallOptions options = options_of(choice, rng);
                    if (between) require_right_with_y(probe, problem, options);
                    refuse(probe, problem, options, invalid);
                    if (between) require_right_with_y(probe, problem, options);
                  },
                  always_beside(invalid, fewer_outputs)});
}

std::vector<kit::Refusal> refusals(Probe& probe, bool between) {
  std::vector<kit::Refusal> all;
  const bool on_device = kit::on_device(probe);
  add_refusals(all, probe, "forward", invalid_in_forward(on_device), {"y", {"not wanted"}},
               refuse_forward, between);
  add_refusals(all, probe, "backward", invalid_in_backward(on_device),
               {"gradients", {"dx", "dgamma", "dbeta", "none"}}, refuse_backward, between);
  return all;
}

}  // namespace

std::vector<Check> refusals_checks() {
  return kit::refusal_checks({{&domain(), refusals}});
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
