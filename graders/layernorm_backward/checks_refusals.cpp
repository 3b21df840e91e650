// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <limits>

#include "domain.h"
#include "graders/kit/refusals.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Assignment;
using Flaw = kit::Flaw<LayernormArgs>;
using Beside = std::function<bool(const Assignment&)>;

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kNarrowed = std::int64_t{1} << 32;  // gone where 32 bits are kept

bool always(const Assignment&) {
  return true;
}
bool has_rows(const Assignment& choice) {
  return choice["rows"].least > 0;
}
bool has_statistics(const Assignment& choice) {
  return has_rows(choice) && statistics_given(choice);
}
bool has_y(const Assignment& choice) {
  return has_rows(choice) && choice.is("y", "wanted");
}
bool has_dx(const Assignment& choice) {
  const std::string& wanted = choice["gradients"].name;
  return has_rows(choice) && (wanted == "all" || wanted.starts_with("dx"));
}

/// One thing wrong with a call, and what is to be said of it.
struct Invalid {
  Flaw flaw;
  Beside beside = always;
  std::int64_t want = LAYERNORM_BAD_ARGUMENT;
};

template <class Number, class Field>
void add_values(std::vector<Invalid>& to, const char* argument, Field LayernormArgs::*field,
                std::initializer_list<Number> values, std::int64_t want = LAYERNORM_BAD_ARGUMENT) {
  for (const Number value : values)
    to.push_back({{fmt::format("{} {}", argument, value),
                   [=](LayernormArgs& a) { a.*field = static_cast<Field>(value); }},
                  always,
                  want});
}

void add_short_strides(std::vector<Invalid>& to, const std::string& argument,
                       std::int64_t LayernormArgs::*stride, const Beside& beside) {
  const auto add = [&](const char* name, const std::function<std::int64_t(std::int64_t)>& of_cols) {
    to.push_back(
        {{argument + " " + name, [=](LayernormArgs& a) { a.*stride = of_cols(a.cols); }}, beside});
  };
  add("cols - 1", [](std::int64_t cols) { return cols - 1; });
  add("0", [](std::int64_t) { return 0; });
  add("-cols", [](std::int64_t cols) { return -cols; });
  add("least", [](std::int64_t) { return kLeast; });
  add("cols - 2^32", [](std::int64_t cols) { return cols - kNarrowed; });
}

std::vector<Invalid> invalid_in_both() {
  std::vector<Invalid> all;
  add_values(all, "rows", &LayernormArgs::rows, {std::int64_t{-1}, kLeast});
  add_values(all, "cols", &LayernormArgs::cols, {std::int64_t{0}, std::int64_t{-1}, kLeast});
  all.push_back({{"rows - 2^32", [](LayernormArgs& a) { a.rows -= kNarrowed; }}});
  all.push_back({{"cols - 2^32", [](LayernormArgs& a) { a.cols -= kNarrowed; }}});
  add_values(all, "threads", &LayernormArgs::num_threads,
             {0, -1, std::numeric_limits<std::int32_t>::min()});
  add_values(all, "eps", &LayernormArgs::eps,
             {-1e-5, -1e-300, -5e-324, double{kit::kNan}, -double{kit::kInfinity}});
  add_short_strides(all, "x stride", &LayernormArgs::x_row_stride, has_rows);
  all.push_back({{.name = "no x", .missing = "x"}, has_rows});
  constexpr std::int64_t kWant = LAYERNORM_UNSUPPORTED;
  add_values(all, "abi", &LayernormArgs::abi_version, {0, 2, -1, 257}, kWant);
  add_values(all, "device", &LayernormArgs::device, {1, 2, -1, 256}, kWant);
  add_values(all, "data type", &LayernormArgs::data_type, {3, -1, 256}, kWant);
  add_values(all, "parameter type", &LayernormArgs::parameter_type, {3, -1, 256}, kWant);
  return all;
}

std::vector<Invalid> invalid_in_forward() {
  std::vector<Invalid> all = invalid_in_both();
  add_short_strides(all, "y stride", &LayernormArgs::y_row_stride, has_y);
  return all;
}

std::vector<Invalid> invalid_in_backward() {
  std::vector<Invalid> all = invalid_in_both();
  add_short_strides(all, "dy stride", &LayernormArgs::dy_row_stride, has_rows);
  add_short_strides(all, "dx stride", &LayernormArgs::dx_row_stride, has_dx);
  all.push_back({{.name = "no dy", .missing = "dy"}, has_rows});
  all.push_back({{.name = "no mean", .missing = "mean"}, has_statistics});
  all.push_back({{.name = "no rstd", .missing = "rstd"}, has_statistics});
  return all;
}

template <class AnyCall>
void require_refused(Probe& probe, AnyCall& call, const Invalid& invalid) {
  if (invalid.flaw.spoil) invalid.flaw.spoil(call.args);
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
                  const std::vector<Invalid>& all, const Refuse& refuse, bool between) {
  for (const Invalid& invalid : all)
    to.push_back({function + " " + invalid.flaw.name, invalid.beside,
                  [=, &probe](const Assignment& choice, Rng& rng) {
                    const Problem problem = problem_of(choice, rng);
                    const CallOptions options = options_of(choice, rng);
                    if (between) require_right_with_y(probe, problem, options);
                    refuse(probe, problem, options, invalid);
                    if (between) require_right_with_y(probe, problem, options);
                  }});
}

std::vector<kit::Refusal> refusals(Probe& probe, bool between) {
  std::vector<kit::Refusal> all;
  add_refusals(all, probe, "forward", invalid_in_forward(), refuse_forward, between);
  add_refusals(all, probe, "backward", invalid_in_backward(), refuse_backward, between);
  return all;
}

}  // namespace

std::vector<Check> refusals_checks() {
  return kit::refusal_checks({{&domain(), refusals}});
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
