#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "ask.h"
#include "checks.h"
#include "generate.h"
#include "graders/kit/compare.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

Problem ordinary(Rng& rng, std::int64_t queries, std::int64_t keys) {
  Sizes sizes;
  sizes.batch = 2;
  sizes.q_heads = sizes.kv_heads = 2;
  sizes.q_len = queries;
  sizes.k_len = keys;
  sizes.dim = sizes.value_dim = 16;
  Problem problem(sizes, rng);
  problem.causal = true;
  fill_sharp(problem, rng);
  return problem;
}

void same_floats(Probe& probe, const Problem& problem, const Answer& first, const Answer& next) {
  const Sizes& sizes = problem.sizes;
  probe.require(kit::first_difference(
      std::span<const float>(next.o), first.o,
      kit::index_namer("o", {sizes.batch, sizes.q_heads, sizes.q_len, sizes.value_dim})));
  probe.require(
      kit::first_difference(std::span<const float>(next.lse), first.lse,
                            kit::index_namer("lse", {sizes.batch, sizes.q_heads, sizes.q_len})));
}

/// A call that must be turned down with a negative number and leave its outputs alone.
void ask_refused(Probe& probe, const char* name,
                 const std::function<void(FlashAttentionForwardArgs&)>& spoil) {
  Rng rng = probe.begin_case(name);
  Problem problem = ordinary(rng, 9, 9);
  problem.kv_start = {0, 2};
  problem.kv_len = {9, 3};
  ForwardCall call(problem);
  spoil(call.args);
  probe.run(call);
  if (call.returned >= 0)
    probe.fail(fmt::format("returned {}, want a negative number", call.returned));
  for (const char* output : {"o", "lse"})
    for (const std::byte byte : call.buffer(output).result)
      probe.require(byte == std::byte{0xff}, fmt::format("{} was written", output));
}

}  // namespace

void thread_counts(Probe& probe) {
  for (const int threads : {1, 2, 3, 5, 16, 64}) {
    Rng rng = probe.begin_case(fmt::format("threads_{}", threads));
    Problem problem = ordinary(rng, rng.integer(1, 150), rng.integer(150, 250));
    problem.threads = threads;
    ask_and_check(probe, problem);
  }
}

// Also with calls of other shapes in between, whose leftovers a reused scratch buffer would hold.
void same_bits(Probe& probe) {
  Rng rng = probe.begin_case("again_and_again");
  const Problem problem = ordinary(rng, 131, 203);
  const Problem bigger = ordinary(rng, 150, 260);
  const Problem smaller = ordinary(rng, 7, 30);
  const Answer first = ask(probe, problem);
  check_answer(probe, problem, first);
  for (int round = 0; round < 20; ++round) {
    if (round % 5 == 1) ask_and_check(probe, bigger);
    if (round % 5 == 3) ask_and_check(probe, smaller);
    same_floats(probe, problem, first, ask(probe, problem));
  }
}

void bad_arguments(Probe& probe) {
  using Args = FlashAttentionForwardArgs;
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  ask_refused(probe, "negative_batch", [](Args& args) { args.batch = -1; });
  ask_refused(probe, "negative_q_len", [](Args& args) { args.q_len = -3; });
  ask_refused(probe, "negative_k_len", [](Args& args) { args.k_len = -1; });
  ask_refused(probe, "head_dim_0", [](Args& args) { args.head_dim = 0; });
  ask_refused(probe, "value_dim_0", [](Args& args) { args.value_dim = 0; });
  ask_refused(probe, "no_kv_heads", [](Args& args) { args.kv_heads = 0; });
  ask_refused(probe, "uneven_heads", [](Args& args) { args.q_heads = 2, args.kv_heads = 3; });
  ask_refused(probe, "negative_stride", [](Args& args) { args.k_row_stride = -16; });
  ask_refused(probe, "no_threads", [](Args& args) { args.num_threads = 0; });
  ask_refused(probe, "window_-2", [](Args& args) { args.window_left = -2; });
  ask_refused(probe, "scale_nan", [&](Args& args) { args.scale = kNan; });
  ask_refused(probe, "scale_inf", [&](Args& args) { args.scale = kInfinity; });
  ask_refused(probe, "softcap_negative", [](Args& args) { args.softcap = -1; });
  ask_refused(probe, "keys_beyond_end", [](Args& args) { args.k_len = 4; });
}

void unsupported_requests(Probe& probe) {
  using Args = FlashAttentionForwardArgs;
  ask_refused(probe, "unknown_type", [](Args& args) { args.data_type = 99; });
  ask_refused(probe, "unknown_version", [](Args& args) { args.abi_version = 77; });
  ask_refused(probe, "unknown_device", [](Args& args) { args.device = 5; });
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
