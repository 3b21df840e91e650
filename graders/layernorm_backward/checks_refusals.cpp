// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "call.h"
#include "graders/kit/refusals.h"
#include "harness/grading/grader.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using Flaw = kit::Flaw<LayernormArgs>;

CallOptions without(std::string_view missing) {
  CallOptions options;
  options.missing = missing;
  return options;
}

void require_forward_refused(Probe& probe, const Problem& problem, const Flaw& flaw,
                             std::int64_t want) {
  probe.begin_case(fmt::format("forward_{}", flaw.name));
  ForwardCall call(problem, ask_saved_bytes(probe, problem), without(flaw.missing));
  flaw.spoil(call.args);
  kit::require_refused(probe, call, want);
}

/// With given statistics, so that no forward pass is needed.
void require_backward_refused(Probe& probe, const Problem& problem, const Flaw& flaw,
                              std::int64_t want) {
  probe.begin_case(fmt::format("backward_{}", flaw.name));
  BackwardCall call(problem, {}, without(flaw.missing));
  flaw.spoil(call.args);
  kit::require_refused(probe, call, want);
}

Problem small_problem(Probe& probe) {
  Rng rng = probe.begin_case("drawn");
  Problem problem = make_problem(rng, rng.integer(3, 9), rng.integer(5, 40));
  give_true_statistics(problem);
  return problem;
}

void bad_arguments(Probe& probe) {
  const Problem problem = small_problem(probe);
  const std::vector<Flaw> both{
      {"negative_rows", [](LayernormArgs& a) { a.rows = -1; }},
      {"no_columns", [](LayernormArgs& a) { a.cols = 0; }},
      {"short_x_stride", [](LayernormArgs& a) { a.x_row_stride = a.cols - 1; }},
      {"no_threads", [](LayernormArgs& a) { a.num_threads = 0; }},
      {"negative_eps", [](LayernormArgs& a) { a.eps = -1e-5; }},
      {"nan_eps", [](LayernormArgs& a) { a.eps = kit::kNan; }},
      {.name = "no_x", .missing = "x"},
  };
  for (const Flaw& flaw : both) {
    require_forward_refused(probe, problem, flaw, LAYERNORM_BAD_ARGUMENT);
    require_backward_refused(probe, problem, flaw, LAYERNORM_BAD_ARGUMENT);
  }
  const std::vector<Flaw> backward{
      {"short_dy_stride", [](LayernormArgs& a) { a.dy_row_stride = 0; }},
      {"short_dx_stride", [](LayernormArgs& a) { a.dx_row_stride = a.cols - 1; }},
      {.name = "no_dy", .missing = "dy"},
      {.name = "mean_without_rstd", .missing = "rstd"},
  };
  for (const Flaw& flaw : backward)
    require_backward_refused(probe, problem, flaw, LAYERNORM_BAD_ARGUMENT);
}

void unsupported_requests(Probe& probe) {
  const Problem problem = small_problem(probe);
  const std::vector<Flaw> flaws{
      {"later_abi", [](LayernormArgs& a) { a.abi_version = LAYERNORM_ABI_VERSION + 1; }},
      {"unknown_data_type", [](LayernormArgs& a) { a.data_type = 77; }},
      {"unknown_parameter_type", [](LayernormArgs& a) { a.parameter_type = 77; }},
      {"unknown_device", [](LayernormArgs& a) { a.device = 77; }},
  };
  for (const Flaw& flaw : flaws) {
    require_forward_refused(probe, problem, flaw, LAYERNORM_UNSUPPORTED);
    require_backward_refused(probe, problem, flaw, LAYERNORM_UNSUPPORTED);
  }
}

}  // namespace

std::vector<Check> refusals_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"bad_arguments", "arguments that make no sense, acted upon", robustness, 0.5, minor},
       bad_arguments},
      {{"unsupported_requests", "types and versions that are not implemented, taken for others",
        robustness, 0.5, minor},
       unsupported_requests},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
