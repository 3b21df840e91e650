// SPDX-License-Identifier: Apache-2.0
// What kernels move between themselves and device memory, counted to the byte.
#include <fmt/format.h>

#include "call.h"
#include "graders/kit/traffic.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "lap.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// As multiples of the least, in which each input is read once and each output written once.
struct Allowed {
  /// Up to this no points are lost: gamma and beta, which every row needs, may come from memory
  /// each time, and blocks have sums of their own.
  double full_forward = 2.1;
  double full_backward = 1.6;
  /// Two kernels that read x and dy three times together are usual and pass; one sweep more does
  /// not, and neither do accesses that are not side by side, which take 8 times the sectors.
  double most = 3.3;
};
/// What belongs to a row as a whole weighs more beside few columns.
constexpr Allowed kShortRows{.most = 4.4};
/// A block has no room for 10,000 columns in the backward pass, so that they may be read twice.
constexpr Allowed kLongRows{.full_backward = 2.6};

std::uint64_t bytes_of(std::int64_t elements) {
  return static_cast<std::uint64_t>(elements) * sizeof(float);
}

/// Rows are a whole number of sectors, so that each starts with one: what is counted is the
/// solution's doing.
Problem aligned_problem(Rng& rng, std::int64_t rows, std::int64_t cols) {
  constexpr std::int64_t kSectorElements = 8;
  return make_big_problem(rng, rows + rng.integer(-rows / 50, rows / 50),
                          near_to(rng, cols / kSectorElements) * kSectorElements);
}

void judge_step(Probe& probe, const Problem& problem, const Allowed& allowed = {}) {
  const std::int64_t elements = problem.rows * problem.cols;
  const LapOracle oracle(problem);
  kit::count_traffic(probe);
  ForwardCall forward(problem, ask_saved_bytes(probe, problem));
  probe.run_ok(forward);
  probe.require(oracle.judge_y(forward.y->view()));
  kit::judge_traffic(
      probe,
      {{{"x", bytes_of(elements)}}, 2 * bytes_of(elements), allowed.full_forward, allowed.most});
  const Bytes saved = forward.saved();
  BackwardCall backward(problem, saved);
  probe.run_ok(backward);
  probe.require(
      oracle.judge_gradients(backward.dx->view(), backward.dgamma->view(), backward.dbeta->view()));
  kit::judge_traffic(probe, {{{"x", bytes_of(elements), true}, {"dy", bytes_of(elements)}},
                             3 * bytes_of(elements),
                             allowed.full_backward,
                             allowed.most});
}

void traffic_square(Probe& probe) {
  Rng rng = probe.begin_case("about_2000x1000");
  judge_step(probe, aligned_problem(rng, 2000, 1000));
}

void traffic_tall(Probe& probe) {
  Rng rng = probe.begin_case("about_5000x64");
  judge_step(probe, aligned_problem(rng, 5000, 64), kShortRows);
}

void traffic_wide(Probe& probe) {
  Rng rng = probe.begin_case("about_64x16000");
  judge_step(probe, aligned_problem(rng, 64, 16'000), kLongRows);
}

}  // namespace

std::vector<Check> traffic_checks();

std::vector<Check> traffic_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"traffic_square", "rows of usual length read again and again, or not side by side",
        performance, 2, minor},
       traffic_square},
      {{"traffic_tall", "short rows read again and again, or by too few lanes", performance, 1,
        minor},
       traffic_tall},
      {{"traffic_wide", "long rows read again and again, or not side by side", performance, 1,
        minor},
       traffic_wide},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
