// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "graders/kit/refusals.h"
#include "harness/grading/grader.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using Args = FlashAttentionBackwardArgs;
using Flaw = kit::Flaw<Args>;

const std::vector<Flaw> kBad{
    {"batch -1", [](Args& a) { a.batch = -1; }},
    {"q_heads -2", [](Args& a) { a.q_heads = -2; }},
    {"q_len -1", [](Args& a) { a.q_len = -1; }},
    {"k_len -5", [](Args& a) { a.k_len = -5; }},
    {"head_dim 0", [](Args& a) { a.head_dim = 0; }},
    {"head_dim 257", [](Args& a) { a.head_dim = 257; }},
    {"value_dim 0", [](Args& a) { a.value_dim = 0; }},
    {"value_dim 257", [](Args& a) { a.value_dim = 257; }},
    {"kv_heads 0", [](Args& a) { a.kv_heads = 0; }},
    {"heads that do not divide", [](Args& a) { a.q_heads = 3; }},
    {"a negative stride of an input", [](Args& a) { a.dout_row_stride = -64; }},
    {"a negative stride of an output", [](Args& a) { a.dk_head_stride = -1; }},
    {"no threads", [](Args& a) { a.num_threads = 0; }},
    {"window_left -2", [](Args& a) { a.window_left = -2; }},
    {"window_right -2", [](Args& a) { a.window_right = -2; }},
    {"scale NaN", [](Args& a) { a.scale = kit::kNan; }},
    {"scale infinite", [](Args& a) { a.scale = -kit::kInfinity; }},
    {"softcap -1", [](Args& a) { a.softcap = -1; }},
    {"softcap NaN", [](Args& a) { a.softcap = kit::kNan; }},
    {"no q", [](Args&) {}, "q"},
    {"no k", [](Args&) {}, "k"},
    {"no v", [](Args&) {}, "v"},
    {"no o", [](Args&) {}, "o"},
    {"no dout", [](Args&) {}, "dout"},
    {"no lse", [](Args&) {}, "lse"},
};

const std::vector<Flaw> kUnsupported{
    {"another device", [](Args& a) { a.device = 7; }},
    {"another abi_version", [](Args& a) { a.abi_version = FLASH_ATTENTION_ABI_VERSION + 1; }},
    {"an unknown type", [](Args& a) { a.data_type = 9; }},
};

Problem small_problem() {
  Rng rng(1);
  Problem problem = random_problem(rng, {1, 2, 2, 9, 11, 16, 16});
  attend(problem);
  return problem;
}

void require_refused(Probe& probe, const Problem& problem, const Flaw& flaw, std::int64_t want) {
  CallOptions options;
  options.want_delta = true;
  options.missing = flaw.missing;
  BackwardCall call(problem, options);
  flaw.spoil(call.args);
  kit::require_refused(probe, call, want);
}

void require_all_refused(Probe& probe, const std::vector<Flaw>& flaws, std::int64_t want) {
  const Problem problem = small_problem();
  for (const Flaw& flaw : flaws) {
    probe.begin_case(flaw.name);
    require_refused(probe, problem, flaw, want);
  }
}

void require_lists_refused(Probe& probe, std::vector<std::int32_t> start,
                           std::vector<std::int32_t> length) {
  probe.begin_case(fmt::format("kv_start {}, kv_len {}, 11 keys",
                               start.empty() ? "null" : fmt::format("{}", start[0]),
                               length.empty() ? "null" : fmt::format("{}", length[0])));
  Problem problem = small_problem();
  problem.form.kv_start = std::move(start);
  problem.form.kv_len = std::move(length);
  require_refused(probe, problem, {"lists"}, FLASH_ATTENTION_BAD_ARGUMENT);
}

void bad_arguments(Probe& probe) {
  require_all_refused(probe, kBad, FLASH_ATTENTION_BAD_ARGUMENT);
  require_lists_refused(probe, {4}, {8});
  require_lists_refused(probe, {-1}, {});
  require_lists_refused(probe, {12}, {});
  require_lists_refused(probe, {}, {-1});
}

void unsupported_requests(Probe& probe) {
  require_all_refused(probe, kUnsupported, FLASH_ATTENTION_UNSUPPORTED);
}

}  // namespace

std::vector<Check> refusals_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"bad_arguments", "arguments that nobody looks at", robustness, 1, minor}, bad_arguments},
      {{"unsupported_requests", "another device, version or type taken for the usual", robustness,
        1, minor},
       unsupported_requests},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
