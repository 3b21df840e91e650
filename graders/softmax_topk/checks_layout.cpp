// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <limits>

#include "graders/kit/device.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

// What lies behind a row's length is NaN, or greater than everything in the row. Some lengths do
// not fit into 16 bits. At the end all entries of a row are equal, and its maximum is not wanted.
void valid_lengths(Probe& probe) {
  for (const std::int64_t vocab : {40, 1000, 12'000, 66'000}) {
    Rng rng = probe.begin_case(fmt::format("near_{}_entries", vocab));
    Problem problem =
        make_problem(rng, 12, near_to(rng, vocab), near_to(rng, 20), {}, rng.integer(1, 5));
    problem.scale = static_cast<float>(rng.uniform(0.5, 1.5));
    const std::int64_t k = problem.k;
    problem.valid_len = {0, 1, k - 1, k, k + 1, problem.vocab, problem.vocab - 1};
    while (std::ssize(problem.valid_len) < problem.rows)
      problem.valid_len.push_back(rng.integer(1, problem.vocab));
    rng.shuffle(problem.valid_len);
    for (std::int64_t i = 0; i < problem.rows; ++i)
      std::ranges::fill(problem.row(i).subspan(static_cast<std::size_t>(problem.len(i))),
                        rng.chance(0.5) ? std::numeric_limits<float>::quiet_NaN() : 100.0f);
    require_right(probe, problem);
    for (std::int64_t i = 0; i < problem.rows; ++i)
      std::ranges::fill(problem.row(i).first(static_cast<std::size_t>(problem.len(i))), 0.5f);
    problem.options.row_max = false;
    require_right(probe, problem, Sums::any);
  }
  if (!kit::on_device(probe)) require_freed_of_every_kind(probe, Outputs::all);
}

// Gaps hold NaN. A call without a gap and with the same sizes comes first. In the last one, every
// row is a little longer than its valid entries.
void strides(Probe& probe) {
  for (const std::int64_t vocab : {5, 64, 333, 5000}) {
    Rng rng = probe.begin_case(fmt::format("near_{}_entries", vocab));
    const std::int64_t rows = rng.integer(3, 30);
    const std::int64_t width = near_to(rng, vocab);
    const std::int64_t k = rng.integer(1, 20);
    require_right(probe, make_problem(rng, rows, width, k));
    require_right(probe, make_problem(rng, rows, width, k, {}, rng.integer(1, 37)));
    Problem padded = make_problem(rng, rows, width, k, {}, 64);
    padded.valid_len.assign(static_cast<std::size_t>(rows), width - 1);
    require_right(probe, padded);
  }
  Rng rng = probe.begin_case("one_row_and_the_longest_stride");
  Problem problem = make_problem(rng, 1, rng.integer(30, 90), 5);
  problem.stride = std::int64_t{1} << 40;
  require_right(probe, problem);
}

/// The last row's results start at an odd number above 2^24, which is no float. Short rows make
/// them cheap: most are columns from the length on. A few rows alone are judged: all take seconds.
Problem uncountable_results(Rng& rng) {
  const std::int64_t rows = 2 * rng.integer(50, 70);
  const std::int64_t k = ((1 << 24) / (rows - 1) | 1) + 2;
  Problem problem = blank_problem(rows, k, k);
  for (std::int64_t i = 0; i < rows; ++i) {
    problem.valid_len.push_back(rng.integer(1, 40));
    fill_noise(rng, problem.row(i).first(static_cast<std::size_t>(problem.len(i))));
  }
  return problem;
}

// Rows that start more than 2^31 or 2^32 elements, or 2^32 bytes, behind each other. What lies
// between them is not there.
void far_rows(Probe& probe) {
  for (const std::int64_t stride : kit::kFarStrides) {
    Rng rng = probe.begin_case(
        fmt::format("stride_near_2_to_the_{}", std::countr_zero(std::uint64_t(stride))));
    Problem problem = make_problem(rng, rng.integer(3, 4), near_to(rng, 300), 9);
    problem.options.far = {"logits", stride + rng.integer(0, 99)};
    require_right(probe, problem);
  }
  // A simulated device would take seconds for so many results.
  if (kit::on_device(probe)) return;
  {
    Rng rng = probe.begin_case("results_beyond_a_stack");
    require_right(probe, more_winners_than_a_stack_holds(rng));
  }
  Rng rng = probe.begin_case("results_beyond_2^24");
  const Problem problem = uncountable_results(rng);
  const Expected ends = expect_rows(problem, {0, problem.rows - 2, problem.rows - 1}, Sums::any);
  require_rows(probe, problem, ask(probe, problem), ends);
}

// Arrays that are aligned to an element and no more, and end right before a page that faults. With
// an odd width every row starts at another offset.
void unaligned_pointers(Probe& probe) {
  for (const std::size_t skew : {0, 4, 8, 12}) {
    Rng rng = probe.begin_case(fmt::format("{}_bytes_after_16", skew));
    for (const std::int64_t vocab : {17, 150, 50'257}) {
      Problem problem = make_problem(rng, rng.integer(2, 5), near_to(rng, vocab), 9);
      problem.options.placement = skew == 0 ? Placement{4, 0} : Placement{16, skew};
      require_right(probe, problem);
    }
  }
}

void optional_outputs(Probe& probe) {
  for (const char* without : {"lse", "row_max", "both"}) {
    Rng rng = probe.begin_case(fmt::format("without_{}", without));
    Problem problem = make_problem(rng, rng.integer(2, 9), rng.integer(30, 2000), 12);
    problem.options.lse = without == std::string_view("row_max");
    problem.options.row_max = without == std::string_view("lse");
    require_right(probe, problem);
  }
  for (const bool null : {true, false}) {
    Rng rng = probe.begin_case(null ? "no_rows" : "no_rows_of_given_arrays");
    Problem problem = make_problem(rng, 0, 1000, 10);
    problem.options.null_when_empty = null;
    require_right(probe, problem);
  }
  Rng rng = probe.begin_case("no_rows_of_the_longest");
  require_right(probe, no_rows_of_the_longest(rng));
}

}  // namespace

std::vector<Check> layout_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"strides", "rows taken to be adjacent", robustness, 2, critical}, strides},
      {{"far_rows", "offsets of rows in 32 bits", robustness, 2, major}, far_rows},
      {{"unaligned_pointers", "wider alignment than promised, reads behind the end", robustness, 2,
        critical},
       unaligned_pointers},
      {{"valid_lengths", "entries behind a row's length", robustness, 2, major}, valid_lengths},
      {{"optional_outputs", "outputs that are not wanted; no rows", robustness, 1, major},
       optional_outputs},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
