#include <algorithm>
#include <fmt/format.h>
#include <limits>

#include "ask.h"
#include "generate.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

Sizes small_sizes(Rng& rng, bool square = false) {
  Sizes sizes;
  sizes.batch = 2;
  sizes.q_heads = 4;
  sizes.kv_heads = 2;
  sizes.q_len = rng.integer(20, 70);
  sizes.k_len = square ? sizes.q_len : rng.integer(70, 130);
  sizes.dim = rng.integer(13, 40);
  sizes.value_dim = rng.integer(13, 40);
  return sizes;
}

void strides(Probe& probe) {
  struct Kind {
    const char* name;
    Layout layout;
  };
  constexpr Kind kKinds[] = {{"rows_first", Layout::rows_first},
                             {"packed", Layout::packed},
                             {"gapped", Layout::gapped},
                             {"packed_again", Layout::packed},
                             {"shared_heads", Layout::shared_heads},
                             {"shared_batch", Layout::shared_batch},
                             {"gapped_again", Layout::gapped}};
  for (const Kind& kind : kKinds) {
    Rng rng = probe.begin_case(kind.name);
    const bool causal = rng.chance(0.5);
    Problem problem(small_sizes(rng, causal), rng, kind.layout);
    problem.causal = causal;
    fill_sharp(problem, rng);
    ask_and_check(probe, problem);
  }
}

void unaligned_pointers(Probe& probe) {
  for (const std::size_t skew : {4, 8, 20, 36, 60}) {
    Rng rng = probe.begin_case(fmt::format("skew_{}", skew));
    Problem problem(small_sizes(rng), rng, rng.chance(0.5) ? Layout::gapped : Layout::heads_first);
    problem.placement = {64, skew};
    fill_sharp(problem, rng);
    ask_and_check(probe, problem);
  }
}

// NaN and infinity in keys that do not exist; the layout's gaps hold NaN as well.
void poisoned_memory(Probe& probe) {
  constexpr float kPoisons[] = {std::numeric_limits<float>::quiet_NaN(),
                                std::numeric_limits<float>::infinity(), 3e38f};
  for (const float poison : kPoisons)
    for (const bool causal : {false, true}) {
      Rng rng = probe.begin_case(fmt::format("{}{}", poison, causal ? "_causal" : ""));
      Sizes sizes = small_sizes(rng);
      sizes.batch = 3;
      Problem problem(sizes, rng, Layout::packed);
      problem.causal = causal;
      fill_sharp(problem, rng);
      const auto keys = static_cast<std::int32_t>(sizes.k_len);
      problem.kv_start = {0, static_cast<std::int32_t>(rng.integer(1, 40)), 3};
      problem.kv_len = {static_cast<std::int32_t>(rng.integer(1, keys - 1)),
                        keys - problem.kv_start[1], 0};
      const kit::AttentionProblem view = problem.oracle_view();
      for (Tensor* tensor : {&problem.k, &problem.v})
        for_each_row(*tensor, [&](float* row, auto b, auto, auto j) {
          const kit::KeyRange existing = view.existing_keys(b);
          if (j < existing.first || j >= existing.last) std::fill_n(row, tensor->dim, poison);
        });
      ask_and_check(probe, problem);
    }
}

void optional_lse(Probe& probe) {
  for (const bool causal : {false, true}) {
    Rng rng = probe.begin_case(causal ? "causal" : "full");
    Problem problem(small_sizes(rng, causal), rng);
    problem.causal = causal;
    problem.want_lse = false;
    fill_sharp(problem, rng);
    ask_and_check(probe, problem);
  }
}

}  // namespace

std::vector<Check> layout_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"strides", "memory taken for contiguous, writes between rows", robustness, 2, critical},
       strides},
      {{"unaligned_pointers", "vector accesses that need more alignment than is promised",
        robustness, 1, major},
       unaligned_pointers},
      {{"poisoned_memory", "NaN and infinity in keys that do not exist", robustness, 2, critical},
       poisoned_memory},
      {{"optional_lse", "a log-sum-exp that nobody wants", robustness, 1, minor}, optional_lse},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
