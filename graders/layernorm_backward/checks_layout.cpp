// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <fmt/format.h>
#include <limits>

#include "footprint.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"
#include "large.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

// Every array with gaps of its own, so that none may borrow another's stride. Input gaps hold NaN.
void strides(Probe& probe) {
  for (const std::int64_t cols : {5, 16, 64, 333}) {
    Rng rng = probe.begin_case(fmt::format("near_{}_columns", cols));
    // Odd where cols is: whole vectors always reach beyond the end of some row.
    const std::int64_t width = near_to(rng, cols) | cols % 2;
    const std::int64_t odd = 1 - width % 2;  // makes the stride odd: no two rows are aligned alike
    const Gaps gaps{rng.integer(1, 3), rng.integer(4, 20), 2 * rng.integer(11, 20) + odd,
                    2 * rng.integer(21, 30) + odd};
    require_right_with_y(probe, make_problem(rng, rng.integer(5, 30), width, {}, gaps));
  }
  // All rows begin at 64 bytes, but those of one array.
  for (const int odd : {0, 1, 2, 3}) {
    Rng rng = probe.begin_case(fmt::format("odd_stride_of_array_{}", odd));
    const auto gap = [&](int array) { return array == odd ? 2 * rng.integer(0, 7) + 1 : 16; };
    const Gaps gaps{gap(0), gap(1), gap(2), gap(3)};
    require_right_with_y(probe, make_problem(rng, rng.integer(3, 9), 128, {}, gaps));
  }
  // Of one row the stride leads nowhere: as a number of bytes it need not fit into 64 bits.
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max() - 99;
  for (const std::int64_t far : {std::int64_t{1} << 60, kLargest}) {
    Rng rng =
        probe.begin_case(fmt::format("one_row_strides_of_2_to_the_{}", far == kLargest ? 63 : 60));
    require_right_with_y(probe, make_problem(rng, 1, 40, {}, {far, far + 1, far + 2, far + 3}));
  }
  Rng rng = probe.begin_case("gaps_stay");
  require_no_packing(probe, rng);
  for (const char* array : {"x gaps", "dy gaps", "y gaps", "dx gaps"})
    ask_large(probe, {{array, {"1 to 20"}}});
}

// Rows of one array start more than 2^31 or 2^32 elements, or bytes, behind each other. What lies
// between them is not there.
void far_rows(Probe& probe) {
  for (const char* array : {"x", "dy", "y", "dx"})
    for (const std::int64_t stride : kit::kFarStrides) {
      Rng rng = probe.begin_case(fmt::format("{}_stride_near_2_to_the_{}", array,
                                             std::countr_zero(std::uint64_t(stride))));
      CallOptions options;
      options.far = {array, stride + rng.integer(0, 99)};
      require_right_with_y(probe, make_problem(rng, rng.integer(3, 4), near_to(rng, 60)), options);
    }
}

// Arrays that are aligned to an element and no more, and end right before a page that faults; all
// of them to 16 or 32 bytes and no more; and one to less than all others, so that none may be taken
// to lie as another does.
void unaligned_pointers(Probe& probe) {
  const auto ask = [&](Rng rng, const CallOptions& options, bool statistics) {
    const Gaps gaps{1, 3, rng.integer(0, 2), rng.integer(0, 2)};
    Problem problem = make_problem(rng, rng.integer(2, 12), rng.integer(17, 150), {}, gaps);
    if (statistics) give_true_statistics(problem);
    require_right_with_y(probe, problem, options);
  };
  for (const Placement& placement : {Placement{4, 0}, Placement{16, 4}, Placement{16, 8},
                                     Placement{16, 12}, Placement{32, 16}, Placement{64, 32}}) {
    CallOptions options;
    options.placement = placement;
    ask(probe.begin_case(fmt::format("{}_bytes_after_{}", placement.skew, placement.alignment)),
        options, false);
  }
  for (const char* array :
       {"x", "gamma", "beta", "dy", "mean", "rstd", "y", "dx", "dgamma", "dbeta"}) {
    const std::string_view name = array;
    CallOptions options;
    options.displaced = name;
    ask(probe.begin_case(fmt::format("{}_alone", name)), options, name == "mean" || name == "rstd");
  }
  Rng rng = probe.begin_case("no_array_any_alignment");
  require_little_for_alignment(probe, rng);
}

void optional_outputs(Probe& probe) {
  for (const std::int64_t rows : {0, 1, 40})
    for (int mask = 0; mask < 8; ++mask) {
      CallOptions options;
      options.y = mask != 5;
      options.dx = (mask & 1) != 0;
      options.dgamma = (mask & 2) != 0;
      options.dbeta = (mask & 4) != 0;
      Rng rng = probe.begin_case(fmt::format("{}_rows{}{}{}", rows, options.dx ? "_dx" : "",
                                             options.dgamma ? "_dgamma" : "",
                                             options.dbeta ? "_dbeta" : ""));
      require_right(probe, make_problem(rng, rows, rng.integer(2, 70)), options);
    }
  ask_large(probe, {{"gradients"}, kFewOrManyRows});
}

void optional_parameters(Probe& probe) {
  for (const bool gamma : {false, true})
    for (const bool beta : {false, true}) {
      Rng rng = probe.begin_case(
          fmt::format("{}_gamma_{}_beta", gamma ? "with" : "no", beta ? "with" : "no"));
      Problem problem = make_problem(rng, rng.integer(3, 30), rng.integer(2, 200));
      if (!gamma) problem.gamma.clear();
      if (!beta) problem.beta.clear();
      require_right_with_y(probe, problem);
    }
  ask_large(probe, {{"gamma", {"absent"}}, kFewOrManyRows});
  ask_large(probe, {{"beta", {"absent"}}});
}

/// Who numbers its calls, to know what is left of earlier ones, takes one for another some day.
void ask_more_often_than_a_byte_counts(Probe& probe, Rng rng) {
  const Problem problem = make_problem(rng, rng.integer(1, 4), rng.integer(2, 9));
  const Expected expected = expect(problem);
  CallOptions options;
  options.threads = 1;
  Answer answer;
  const Bytes saved = run_forward(probe, problem, answer, options);
  const std::int64_t calls = 256 + rng.integer(4, 12);
  for (std::int64_t call = 0; call < calls; ++call) {
    run_backward(probe, problem, saved, answer, options);
    require_gradients(probe, problem, answer, expected);
  }
}

// Outputs that hold an old gradient instead of poison.
void dirty_outputs(Probe& probe) {
  for (const std::int64_t cols : {8, 150}) {
    Rng rng = probe.begin_case(fmt::format("near_{}_columns", cols));
    const Problem problem = make_problem(rng, rng.integer(3, 40), near_to(rng, cols));
    const Expected expected = expect(problem);
    Answer answer;
    const Bytes saved = run_forward(probe, problem, answer);
    for (int turn = 0; turn < 2; ++turn) {
      CallOptions options;
      options.old = static_cast<float>(rng.normal());
      run_backward(probe, problem, saved, answer, options);
      require_gradients(probe, problem, answer, expected);
    }
  }
  ask_more_often_than_a_byte_counts(probe, probe.begin_case("more_calls_than_a_byte_counts"));
}

}  // namespace

std::vector<Check> layout_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"strides", "rows taken to be adjacent, gaps between them read or written", robustness, 2,
        critical},
       strides},
      {{"far_rows", "offsets of rows in 32 bits", robustness, 2, major}, far_rows},
      {{"unaligned_pointers", "wider alignment than promised, reads behind the end", robustness, 2,
        critical},
       unaligned_pointers},
      {{"dirty_outputs", "adding to what the output held", robustness, 2, critical}, dirty_outputs},
      {{"optional_outputs", "outputs that are not wanted, or wanted alone", robustness, 1, major},
       optional_outputs},
      {{"optional_parameters", "gamma and beta left out", robustness, 1, major},
       optional_parameters},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
