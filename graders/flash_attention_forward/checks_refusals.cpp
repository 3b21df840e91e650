// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/refusals.h"
#include "harness/grading/grader.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using Args = FlashAttentionForwardArgs;
using Flaw = kit::Flaw<Args>;

const std::vector<Flaw> kBad{
    {"negative_batch", [](Args& a) { a.batch = -1; }},
    {"negative_q_len", [](Args& a) { a.q_len = -3; }},
    {"negative_k_len", [](Args& a) { a.k_len = -1; }},
    {"head_dim_0", [](Args& a) { a.head_dim = 0; }},
    {"value_dim_0", [](Args& a) { a.value_dim = 0; }},
    {"no_kv_heads", [](Args& a) { a.kv_heads = 0; }},
    {"uneven_heads", [](Args& a) { a.q_heads = 2, a.kv_heads = 3; }},
    {"negative_k_stride", [](Args& a) { a.k_row_stride = -16; }},
    {"negative_o_stride", [](Args& a) { a.o_head_stride = -1; }},
    {"no_threads", [](Args& a) { a.num_threads = 0; }},
    {"window_left_-2", [](Args& a) { a.window_left = -2; }},
    {"window_right_-7", [](Args& a) { a.window_right = -7; }},
    {"scale_nan", [](Args& a) { a.scale = kit::kNan; }},
    {"scale_inf", [](Args& a) { a.scale = kit::kInfinity; }},
    {"softcap_nan", [](Args& a) { a.softcap = kit::kNan; }},
    {"softcap_negative", [](Args& a) { a.softcap = -1; }},
    {"keys_beyond_end", [](Args& a) { a.k_len = 4; }},
    {"no_q", [](Args&) {}, "q"},
    {"no_k", [](Args&) {}, "k"},
    {"no_v", [](Args&) {}, "v"},
    {"no_o", [](Args&) {}, "o"},
};

const std::vector<Flaw> kUnsupported{
    {"unknown_type", [](Args& a) { a.data_type = 99; }},
    {"later_abi", [](Args& a) { a.abi_version = FLASH_ATTENTION_ABI_VERSION + 1; }},
    {"unknown_device", [](Args& a) { a.device = 5; }},
};

void require_all_refused(Probe& probe, const std::vector<Flaw>& flaws, std::int64_t want) {
  for (const Flaw& flaw : flaws) {
    Rng rng = probe.begin_case(flaw.name);
    Problem problem({2, 2, 2, 9, 9, 16, 16});
    problem.form.causal = true;
    fill_sharp(problem, rng);
    problem.form.kv_start = {0, 2};
    problem.form.kv_len = {9, 3};
    CallOptions options;
    options.missing = flaw.missing;
    ForwardCall call(problem, options);
    flaw.spoil(call.args);
    kit::require_refused(probe, call, want);
  }
}

void bad_arguments(Probe& probe) {
  require_all_refused(probe, kBad, FLASH_ATTENTION_BAD_ARGUMENT);
}

void unsupported_requests(Probe& probe) {
  require_all_refused(probe, kUnsupported, FLASH_ATTENTION_UNSUPPORTED);
}

}  // namespace

std::vector<Check> refusals_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"bad_arguments", "impossible arguments accepted", robustness, 1, minor}, bad_arguments},
      {{"unsupported_requests", "unknown types, devices and versions accepted", robustness, 1,
        minor},
       unsupported_requests},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
