#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <limits>

#include "ask.h"
#include "cases.h"
#include "checks.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

// The same question again and again, with others in between: the same bits when determinism is
// asked for, and the right answer when it is not.
void repeatability(Probe& probe) {
  Rng rng = probe.begin_case("twelve times");
  Sizes sizes = drawn_sizes(rng, rng.integer(130, 260), rng.integer(260, 300));
  sizes.dim = sizes.value_dim = 32;
  sizes.q_heads = sizes.kv_heads = 3;
  Problem problem = random_problem(rng, sizes);
  problem.form.causal = rng.chance(0.5);
  attend(problem);
  Asking asking;
  asking.deterministic = true;
  asking.num_threads = 3;
  const Answer first = require_right(probe, problem, asking);
  for (int again = 1; again < 12; ++again)
    require_equal(probe, problem, ask(probe, problem, asking), first);

  probe.begin_case("order left free");
  asking.deterministic = false;
  const Expected expected = expected_of(problem);
  for (int again = 0; again < 8; ++again)
    require_close(probe, problem, ask(probe, problem, asking), expected);
}

// More threads than heads, more than blocks of keys, and just one.
void thread_counts(Probe& probe) {
  for (const std::int32_t threads : {1, 3, 5, 16}) {
    Rng rng = probe.begin_case(fmt::format("{} threads", threads));
    Sizes sizes = drawn_sizes(rng, rng.integer(20, 180), rng.integer(20, 180));
    if (threads == 3) sizes.q_heads = sizes.kv_heads = 4;
    Problem problem = random_problem(rng, sizes);
    problem.form.causal = rng.chance(0.5);
    attend(problem);
    Asking asking;
    asking.num_threads = threads;
    require_right(probe, problem, asking);
  }
}

void optional_outputs(Probe& probe) {
  for (int wanted = 0; wanted < 16; wanted += 3) {
    Rng rng = probe.begin_case(fmt::format("results {}{}{}{}", wanted & 1 ? "dq " : "",
                                           wanted & 2 ? "dk " : "", wanted & 4 ? "dv " : "",
                                           wanted & 8 ? "delta" : ""));
    Problem problem =
        random_problem(rng, drawn_sizes(rng, rng.integer(20, 100), rng.integer(20, 100)));
    attend(problem);
    Asking asking;
    asking.want_dq = wanted & 1;
    asking.want_dk = wanted & 2;
    asking.want_dv = wanted & 4;
    asking.want_delta = wanted & 8;
    require_right(probe, problem, asking);
  }
}

namespace {

using Args = FlashAttentionBackwardArgs;

struct BadCase {
  const char* name;
  std::int64_t want;
  std::function<void(Args&)> spoil;
};

std::vector<BadCase> bad_cases() {
  constexpr std::int64_t kBad = FLASH_ATTENTION_BAD_ARGUMENT;
  constexpr std::int64_t kUnsupported = FLASH_ATTENTION_UNSUPPORTED;
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  return {
      {"batch -1", kBad, [](Args& a) { a.batch = -1; }},
      {"q_len -1", kBad, [](Args& a) { a.q_len = -1; }},
      {"k_len -5", kBad, [](Args& a) { a.k_len = -5; }},
      {"head_dim 0", kBad, [](Args& a) { a.head_dim = 0; }},
      {"value_dim 257", kBad, [](Args& a) { a.value_dim = 257; }},
      {"kv_heads 0", kBad, [](Args& a) { a.kv_heads = 0; }},
      {"heads that do not divide", kBad, [](Args& a) { a.q_heads = 3, a.kv_heads = 2; }},
      {"a negative stride", kBad, [](Args& a) { a.dout_row_stride = -64; }},
      {"no threads", kBad, [](Args& a) { a.num_threads = 0; }},
      {"window -2", kBad, [](Args& a) { a.window_left = -2; }},
      {"scale NaN", kBad, [](Args& a) { a.scale = kNan; }},
      {"softcap -1", kBad, [](Args& a) { a.softcap = -1; }},
      {"another device", kUnsupported, [](Args& a) { a.device = 7; }},
      {"another abi_version", kUnsupported, [](Args& a) { a.abi_version = 99; }},
      {"an unknown type", kUnsupported, [](Args& a) { a.data_type = 9; }},
  };
}

bool untouched(const Answer& answer) {
  for (auto part : {&Answer::dq, &Answer::dk, &Answer::dv})
    for (const float number : answer.*part)
      if (!std::isnan(number)) return false;
  return true;
}

void require_refused(Probe& probe, Question& question, std::int64_t want) {
  probe.run(question.call);
  if (question.call.returned != want)
    probe.fail(fmt::format("returned {}, want {}", question.call.returned, want));
  probe.require(untouched(question.answer()), "an output was written all the same");
}

}  // namespace

void bad_arguments(Probe& probe) {
  Rng shared(1);
  Problem problem = random_problem(shared, {1, 2, 2, 9, 11, 16, 16});
  attend(problem);
  const Asking asking;
  for (const BadCase& bad : bad_cases()) {
    probe.begin_case(bad.name);
    Question question(problem, asking);
    bad.spoil(question.call.args);
    require_refused(probe, question, bad.want);
  }
  probe.begin_case("kv_len beyond the keys");
  problem.form.kv_start = {4};
  problem.form.kv_len = {7};
  attend(problem);
  problem.form.kv_len = {8};
  Question question(problem, asking);
  require_refused(probe, question, FLASH_ATTENTION_BAD_ARGUMENT);
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
