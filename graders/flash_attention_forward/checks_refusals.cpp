#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <limits>

#include "ask.h"
#include "generate.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using Args = FlashAttentionForwardArgs;

/// One thing wrong with an otherwise good call.
struct Flaw {
  const char* name;
  std::function<void(Args&)> spoil;
  const char* missing = "";  // an array that is not given
};

Problem good_problem(Rng& rng) {
  Sizes sizes;
  sizes.batch = 2;
  sizes.q_heads = sizes.kv_heads = 2;
  sizes.q_len = sizes.k_len = 9;
  sizes.dim = sizes.value_dim = 16;
  Problem problem(sizes, rng);
  problem.causal = true;
  fill_sharp(problem, rng);
  return problem;
}

void require_refused(Probe& probe, const Flaw& flaw, std::int64_t want) {
  Rng rng = probe.begin_case(flaw.name);
  Problem problem = good_problem(rng);
  problem.kv_start = {0, 2};
  problem.kv_len = {9, 3};
  ForwardCall call(problem, flaw.missing);
  flaw.spoil(call.args);
  probe.run(call);
  if (call.returned != want)
    probe.fail(fmt::format("{} returned {}, want {}", call.symbol, call.returned, want));
  for (const Buffer& buffer : call.buffers())
    probe.require(std::all_of(buffer.result.begin(), buffer.result.end(),
                              [](std::byte byte) { return byte == std::byte{0xff}; }),
                  fmt::format("{} was written by a call that has to be refused", buffer.name));
}

void nothing(Args&) {}

void bad_arguments(Probe& probe) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Flaw flaws[] = {
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
      {"scale_nan", [](Args& a) { a.scale = kNan; }},
      {"scale_inf", [](Args& a) { a.scale = kInfinity; }},
      {"softcap_nan", [](Args& a) { a.softcap = kNan; }},
      {"softcap_negative", [](Args& a) { a.softcap = -1; }},
      {"keys_beyond_end", [](Args& a) { a.k_len = 4; }},
      {"no_q", nothing, "q"},
      {"no_k", nothing, "k"},
      {"no_v", nothing, "v"},
      {"no_o", nothing, "o"},
  };
  for (const Flaw& flaw : flaws) require_refused(probe, flaw, FLASH_ATTENTION_BAD_ARGUMENT);
}

void unsupported_requests(Probe& probe) {
  const Flaw flaws[] = {
      {"unknown_type", [](Args& a) { a.data_type = 99; }},
      {"later_abi", [](Args& a) { a.abi_version = FLASH_ATTENTION_ABI_VERSION + 1; }},
      {"unknown_device", [](Args& a) { a.device = 5; }},
  };
  for (const Flaw& flaw : flaws) require_refused(probe, flaw, FLASH_ATTENTION_UNSUPPORTED);
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
