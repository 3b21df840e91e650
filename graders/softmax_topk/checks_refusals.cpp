// SPDX-License-Identifier: Apache-2.0
#include "call.h"
#include "graders/kit/refusals.h"
#include "harness/grading/grader.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using Flaw = kit::Flaw<SoftmaxTopkArgs>;

Problem small_problem(Probe& probe) {
  Rng rng = probe.begin_case("drawn");
  return make_problem(rng, rng.integer(3, 9), rng.integer(20, 60), rng.integer(2, 9));
}

void require_refused(Probe& probe, Problem problem, const Flaw& flaw, std::int64_t want) {
  probe.begin_case(flaw.name);
  problem.options.missing = flaw.missing;
  SoftmaxTopkCall call(problem);
  flaw.spoil(call.args);
  kit::require_refused(probe, call, want);
}

void bad_arguments(Probe& probe) {
  const Problem problem = small_problem(probe);
  const std::vector<Flaw> flaws{
      {"negative_rows", [](SoftmaxTopkArgs& a) { a.rows = -1; }},
      {"no_entries", [](SoftmaxTopkArgs& a) { a.vocab = 0; }},
      {"no_winners", [](SoftmaxTopkArgs& a) { a.k = 0; }},
      {"negative_k", [](SoftmaxTopkArgs& a) { a.k = -3; }},
      {"k_above_vocab", [](SoftmaxTopkArgs& a) { a.k = a.vocab + 1; }},
      {"short_stride", [](SoftmaxTopkArgs& a) { a.row_stride = a.vocab - 1; }},
      {"no_threads", [](SoftmaxTopkArgs& a) { a.num_threads = 0; }},
      {"negative_scale", [](SoftmaxTopkArgs& a) { a.scale = -1; }},
      {"zero_scale", [](SoftmaxTopkArgs& a) { a.scale = 0; }},
      {"nan_scale", [](SoftmaxTopkArgs& a) { a.scale = kit::kNan; }},
      {"infinite_scale", [](SoftmaxTopkArgs& a) { a.scale = kit::kInfinity; }},
      {.name = "no_logits", .missing = "logits"},
      {.name = "no_indices", .missing = "indices"},
      {.name = "no_probs", .missing = "probs"},
  };
  for (const Flaw& flaw : flaws) require_refused(probe, problem, flaw, SOFTMAX_TOPK_BAD_ARGUMENT);
}

void unsupported_requests(Probe& probe) {
  const Problem problem = small_problem(probe);
  const std::vector<Flaw> flaws{
      {"later_abi", [](SoftmaxTopkArgs& a) { a.abi_version = SOFTMAX_TOPK_ABI_VERSION + 1; }},
      {"unknown_data_type", [](SoftmaxTopkArgs& a) { a.data_type = 77; }},
      {"unknown_device", [](SoftmaxTopkArgs& a) { a.device = 77; }},
  };
  for (const Flaw& flaw : flaws) require_refused(probe, problem, flaw, SOFTMAX_TOPK_UNSUPPORTED);
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
