// SPDX-License-Identifier: Apache-2.0
#include "lap.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "graders/kit/compare.h"
#include "graders/kit/laps.h"
#include "harness/core/machine.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr int kSampledRows = 3;

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

Miss index_miss(std::int64_t i, std::int64_t j, double got, double want, std::string_view why) {
  return {fmt::format("indices[{}][{}], {}", i, j, why), got, want, 0, 1, 1};
}

}  // namespace

// A cheap exponential, wrong by 1e-4, shifts the sums by some 1000 u, and who may be that wrong
// here is paid for work that was not asked for. So nothing is forgiven on top of the contract but
// what a running sum loses where the maximum goes on rising, as it does in ascending rows. One
// float that takes all terms in turn is no exception: it loses more than the contract grants.
LapJudge::LapJudge(const Problem& problem, const std::vector<std::int64_t>& rows)
    : problem_(problem), expected_(expect_rows(problem, rows, Sums::rescaled)) {}

std::optional<Miss> LapJudge::order_miss(const Answer& answer, std::int64_t i) const {
  const auto k = static_cast<std::size_t>(problem_.k);
  const auto got = std::span(answer.indices).subspan(static_cast<std::size_t>(i) * k, k);
  const auto row = problem_.row(i);
  for (std::size_t j = 0; j < k; ++j) {
    const auto at = static_cast<std::int64_t>(j);
    if (got[j] < 0 || got[j] >= problem_.vocab)
      return index_miss(i, at, got[j], 0, "outside of the row");
    if (j > 0 && !comes_before(row, got[j - 1], got[j]))
      return index_miss(i, at, got[j], got[j - 1], "does not come after the one before it");
  }
  const std::int64_t before = count_before(row, got[k - 1]);
  if (before == problem_.k - 1) return std::nullopt;
  return index_miss(i, problem_.k - 1, got[k - 1], got[k - 1],
                    fmt::format("{} entries come before the last one, want {}", before, k - 1));
}

/// Both may be wrong by what the contract leaves them.
std::optional<Miss> LapJudge::prob_miss(const Answer& answer, std::int64_t i) const {
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
      return Miss{fmt::format("probs[{}][{}], by the row's own lse", i, j), answer.probs[first + j],
                  want, allowed};
  }
  return std::nullopt;
}

std::optional<Miss> LapJudge::miss(const Answer& answer) const {
  for (std::int64_t i = 0; i < problem_.rows; ++i) {
    if (auto found = order_miss(answer, i)) return found;
    if (auto found = prob_miss(answer, i)) return found;
  }
  if (auto fault = fault_in(problem_, answer, expected_)) return std::move(fault->miss);
  return std::nullopt;
}

void fill_random(Rng& rng, std::span<float> row) {
  fill_noise(rng, row);
}

void fill_ascending(Rng& rng, std::span<float> row) {
  fill_noise(rng, row, {0, 1e-3});
  const float step = 16 / static_cast<float>(row.size());
  for (std::size_t j = 0; j < row.size(); ++j) row[j] += step * static_cast<float>(j);
}

void fill_sawtooth(Rng& rng, std::span<float> row) {
  constexpr std::size_t kTooth = 997;
  fill_noise(rng, row, {0, 1e-2});
  for (std::size_t begin = 0; begin < row.size(); begin += kTooth) {
    const std::size_t end = std::min(row.size(), begin + kTooth);
    for (std::size_t j = begin; j < end; ++j) row[j] += static_cast<float>(j - begin) * 8e-3f;
  }
}

TimedLap::TimedLap(std::int64_t rows, std::int64_t vocab, std::int64_t k, Fill fill)
    : problem_(blank_problem(rows, vocab, k)), fill_(fill) {
  problem_.options.threads = this_machine().cores;
}

void TimedLap::prepare(Rng& inputs, Rng& judge) {
  for (std::int64_t i = 0; i < problem_.rows; ++i) fill_(inputs, problem_.row(i));
  judge_ = std::make_unique<LapJudge>(problem_, kit::some_of(judge, problem_.rows, kSampledRows));
}

Lap TimedLap::run(Session& session) const {
  SoftmaxTopkCall call(problem_);
  Answer answer;
  Lap lap = kit::verified_lap(session, call, [&] { return judge_->miss(answer = call.answer()); });
  kit::judge_all_later(lap, [this, answer = std::move(answer)] {
    return LapJudge(problem_, kit::all_of(problem_.rows)).miss(answer);
  });
  return lap;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
