#include <bit>
#include <fmt/format.h>
#include <functional>
#include <limits>

#include "ask.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using Args = FlashAttentionBackwardArgs;

/// One thing wrong with an otherwise good call.
struct Flaw {
  const char* name;
  std::function<void(Args&)> spoil;
};

std::vector<Flaw> wrong_sizes() {
  return {
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
  };
}

std::vector<Flaw> wrong_settings() {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  return {
      {"no threads", [](Args& a) { a.num_threads = 0; }},
      {"window_left -2", [](Args& a) { a.window_left = -2; }},
      {"window_right -2", [](Args& a) { a.window_right = -2; }},
      {"scale NaN", [](Args& a) { a.scale = kNan; }},
      {"scale infinite", [](Args& a) { a.scale = -kInfinity; }},
      {"softcap -1", [](Args& a) { a.softcap = -1; }},
      {"softcap NaN", [](Args& a) { a.softcap = kNan; }},
  };
}

std::vector<Flaw> wishes() {
  return {
      {"another device", [](Args& a) { a.device = 7; }},
      {"another abi_version", [](Args& a) { a.abi_version = FLASH_ATTENTION_ABI_VERSION + 1; }},
      {"an unknown type", [](Args& a) { a.data_type = 9; }},
  };
}

/// Poison is one NaN among many: a solution's own NaN is a write as well.
void require_untouched(Probe& probe, const char* name, const std::vector<float>& written) {
  for (const float number : written)
    if (std::bit_cast<std::uint32_t>(number) != 0xffffffffu)
      probe.fail(fmt::format("{} was written by a call that has to be refused", name));
}

void require_refused(Probe& probe, Question& question, std::int64_t want) {
  probe.run(question.call);
  if (question.call.returned != want)
    probe.fail(fmt::format("returned {}, want {}", question.call.returned, want));
  const Answer answer = question.answer();
  require_untouched(probe, "dq", answer.dq);
  require_untouched(probe, "dk", answer.dk);
  require_untouched(probe, "dv", answer.dv);
  require_untouched(probe, "delta", answer.delta);
}

Problem small_problem() {
  Rng rng(1);
  Problem problem = random_problem(rng, {1, 2, 2, 9, 11, 16, 16});
  attend(problem);
  return problem;
}

Asking everything_wanted() {
  Asking asking;
  asking.want_delta = true;
  return asking;
}

void require_all_refused(Probe& probe, const std::vector<Flaw>& flaws, std::int64_t want) {
  const Problem problem = small_problem();
  const Asking asking = everything_wanted();
  for (const Flaw& flaw : flaws) {
    probe.begin_case(flaw.name);
    Question question(problem, asking);
    flaw.spoil(question.call.args);
    require_refused(probe, question, want);
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
  const Asking asking = everything_wanted();
  Question question(problem, asking);
  require_refused(probe, question, FLASH_ATTENTION_BAD_ARGUMENT);
}

void bad_arguments(Probe& probe) {
  require_all_refused(probe, wrong_sizes(), FLASH_ATTENTION_BAD_ARGUMENT);
  require_all_refused(probe, wrong_settings(), FLASH_ATTENTION_BAD_ARGUMENT);
  require_lists_refused(probe, {4}, {8});
  require_lists_refused(probe, {-1}, {});
  require_lists_refused(probe, {12}, {});
  require_lists_refused(probe, {}, {-1});
  for (const char* missing : {"q", "k", "v", "o", "dout", "lse"}) {
    probe.begin_case(fmt::format("no {}", missing));
    const Problem problem = small_problem();
    Asking asking = everything_wanted();
    asking.missing_input = missing;
    Question question(problem, asking);
    require_refused(probe, question, FLASH_ATTENTION_BAD_ARGUMENT);
  }
}

void unsupported_requests(Probe& probe) {
  require_all_refused(probe, wishes(), FLASH_ATTENTION_UNSUPPORTED);
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
