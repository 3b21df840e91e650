#include "lap_judge.h"

#include <cmath>
#include <fmt/format.h>
#include <span>

#include "graders/kit/compare.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr std::int64_t kSampledRows = 3;

bool comes_before(std::span<const float> row, std::int32_t a, std::int32_t b) {
  const float za = row[static_cast<std::size_t>(a)];
  const float zb = row[static_cast<std::size_t>(b)];
  return za > zb || (za == zb && a < b);
}

/// Entries of the row that come before entry `last`. No branches, so that it vectorises.
std::int64_t count_before(std::span<const float> row, std::int32_t last) {
  const float bound = row[static_cast<std::size_t>(last)];
  std::int32_t above = 0;
  std::int32_t equal = 0;
  for (const float z : row) above += z > bound;
  for (const float z : row.first(static_cast<std::size_t>(last))) equal += z == bound;
  return std::int64_t{above} + equal;
}

Fault index_fault(std::int64_t i, std::int64_t j, double got, double want, std::string evidence) {
  return {{fmt::format("indices[{}][{}]", i, j), got, want, 0, 1, 1}, {std::move(evidence)}};
}

}  // namespace

// Nothing is forgiven on top of the contract: a cheap exponential, wrong by 1e-4, shifts the sums
// by some 1000 u, and who may be that wrong here is paid for work that was not asked for. What one
// float accumulator loses over rows as long as these is no speed, and the contract's tolerance is
// known to leave room: see Calibration.
LapJudge::LapJudge(const Problem& problem, Rng& rng)
    : problem_(problem),
      sampled_(
          expect_rows(problem, random_places(rng, problem.rows, kSampledRows), Sums::careful)) {}

std::optional<Fault> LapJudge::order_fault(const Answer& answer, std::int64_t i) const {
  const auto k = static_cast<std::size_t>(problem_.k);
  const auto got = std::span(answer.indices).subspan(static_cast<std::size_t>(i) * k, k);
  const auto row = problem_.row(i);
  for (std::size_t j = 0; j < k; ++j) {
    const auto at = static_cast<std::int64_t>(j);
    if (got[j] < 0 || got[j] >= problem_.vocab)
      return index_fault(i, at, got[j], 0, "outside of the row");
    if (j > 0 && !comes_before(row, got[j - 1], got[j]))
      return index_fault(i, at, got[j], got[j - 1], "does not come after the one before it");
  }
  const std::int64_t before = count_before(row, got[k - 1]);
  if (before == problem_.k - 1) return std::nullopt;
  return index_fault(i, problem_.k - 1, got[k - 1], got[k - 1],
                     fmt::format("{} entries come before the last one, want {}", before, k - 1));
}

/// Both may be wrong by what the contract leaves them.
std::optional<Fault> LapJudge::sum_fault(const Answer& answer, std::int64_t i) const {
  const auto k = static_cast<std::size_t>(problem_.k);
  const auto first = static_cast<std::size_t>(i) * k;
  const double lse = answer.lse[static_cast<std::size_t>(i)];
  const auto len = static_cast<double>(problem_.vocab);
  const auto value = [&](std::size_t j) {
    return double{problem_.row(i)[static_cast<std::size_t>(answer.indices[first + j])]};
  };
  for (std::size_t j = 0; j < k; ++j) {
    const double want = std::exp(value(j) - lse);
    const double units = prob_units(value(0) - value(j), len) + lse_units(lse);
    const double allowed = kUnitRoundoff * units * want + kSmallest;
    if (!kit::within(want, answer.probs[first + j], allowed))
      return Fault{
          {fmt::format("probs[{}][{}]", i, j), answer.probs[first + j], want, allowed, 1, 1},
          {"the row's own lse asks for another probability"}};
  }
  return std::nullopt;
}

std::optional<Fault> LapJudge::judge(const Answer& answer) const {
  for (std::int64_t i = 0; i < problem_.rows; ++i) {
    if (auto fault = order_fault(answer, i)) return fault;
    if (auto fault = sum_fault(answer, i)) return fault;
  }
  return fault_in(problem_, answer, sampled_);
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
