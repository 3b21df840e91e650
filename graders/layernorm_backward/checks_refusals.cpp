#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <optional>

#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "step.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// One thing wrong with an otherwise good call.
struct Flaw {
  const char* name;
  std::function<void(LayernormArgs&)> spoil;
  bool no_x = false;
  bool no_dy = false;
  bool no_rstd = false;
};

void require_untouched(Probe& probe, const char* name, std::span<const float> written) {
  for (const float value : written)
    if (std::bit_cast<std::uint32_t>(value) != 0xffffffffu)
      probe.fail(fmt::format("{} was written by a call that has to be refused", name));
}

void require_refusal(Probe& probe, const CallBase& call, std::int64_t want) {
  if (call.returned != want)
    probe.fail(fmt::format("{} returned {}, want {}", call.symbol, call.returned, want));
}

void require_forward_refused(Probe& probe, const Problem& problem, const Flaw& flaw,
                             std::int64_t want) {
  probe.begin_case(fmt::format("forward_{}", flaw.name));
  const auto saved_bytes = static_cast<std::size_t>(ask_saved_bytes(probe, problem));
  Call<LayernormArgs> call("layernorm_forward");
  if (flaw.no_x) {
    call.args = scalars_of(problem);
  } else {
    add_forward_inputs(call, problem);
  }
  const auto y = call.out<float>("y", call.args.y, output_elements(problem));
  if (saved_bytes > 0) call.out<std::uint8_t>("saved_out", call.args.saved_out, saved_bytes);
  call.args.saved_bytes = static_cast<std::int64_t>(saved_bytes);
  flaw.spoil(call.args);
  probe.run(call);
  require_refusal(probe, call, want);
  require_untouched(probe, "y", y.view());
}

/// With given statistics, so that no forward pass is needed.
void require_backward_refused(Probe& probe, const Problem& problem, const Flaw& flaw,
                              std::int64_t want) {
  probe.begin_case(fmt::format("backward_{}", flaw.name));
  Call<LayernormArgs> call("layernorm_backward");
  call.args = scalars_of(problem);
  if (!flaw.no_x) call.in("x", call.args.x, problem.x.all());
  if (!flaw.no_dy) call.in("dy", call.args.dy, problem.dy.all());
  call.in("gamma", call.args.gamma, problem.gamma);
  call.in("mean", call.args.mean, problem.mean);
  if (!flaw.no_rstd) call.in("rstd", call.args.rstd, problem.rstd);
  const auto cols = static_cast<std::size_t>(problem.cols);
  const auto dx = call.out<float>("dx", call.args.dx, output_elements(problem));
  const auto dgamma = call.out<float>("dgamma", call.args.dgamma, cols);
  const auto dbeta = call.out<float>("dbeta", call.args.dbeta, cols);
  flaw.spoil(call.args);
  probe.run(call);
  require_refusal(probe, call, want);
  require_untouched(probe, "dx", dx.view());
  require_untouched(probe, "dgamma", dgamma.view());
  require_untouched(probe, "dbeta", dbeta.view());
}

Problem small_problem(Probe& probe) {
  Rng rng = probe.begin_case("drawn");
  Problem problem = make_problem(rng, rng.integer(3, 9), rng.integer(5, 40));
  add_true_statistics(problem);
  return problem;
}

void nothing(LayernormArgs&) {}

void bad_arguments(Probe& probe) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const Problem problem = small_problem(probe);
  const std::vector<Flaw> both{
      {"negative_rows", [](LayernormArgs& a) { a.rows = -1; }},
      {"no_columns", [](LayernormArgs& a) { a.cols = 0; }},
      {"short_x_stride", [](LayernormArgs& a) { a.x_row_stride = a.cols - 1; }},
      {"no_threads", [](LayernormArgs& a) { a.num_threads = 0; }},
      {"negative_eps", [](LayernormArgs& a) { a.eps = -1e-5; }},
      {"nan_eps", [](LayernormArgs& a) { a.eps = kNan; }},
      {"no_x", nothing, true},
  };
  for (const Flaw& flaw : both) {
    require_forward_refused(probe, problem, flaw, LAYERNORM_BAD_ARGUMENT);
    require_backward_refused(probe, problem, flaw, LAYERNORM_BAD_ARGUMENT);
  }
  const std::vector<Flaw> backward{
      {"short_dy_stride", [](LayernormArgs& a) { a.dy_row_stride = 0; }},
      {"short_dx_stride", [](LayernormArgs& a) { a.dx_row_stride = a.cols - 1; }},
      {"no_dy", nothing, false, true},
      {"mean_without_rstd", nothing, false, false, true},
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
