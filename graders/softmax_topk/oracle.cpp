// SPDX-License-Identifier: Apache-2.0
#include "oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <span>

#include "graders/kit/inputs.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::kInfinity;

/// The k first entries in the contract's order. Of those that come into question, all but the k
/// first are dropped whenever there are twice as many: rows that rise put every entry there.
std::vector<std::int32_t> first_in_order(std::span<const float> row, std::size_t k) {
  const auto before = [row](std::int32_t a, std::int32_t b) {
    const float za = row[static_cast<std::size_t>(a)];
    const float zb = row[static_cast<std::size_t>(b)];
    return za > zb || (za == zb && a < b);
  };
  k = std::min(k, row.size());
  std::vector<std::int32_t> kept;
  if (k == 0) return kept;
  std::optional<float> last;  // of the k first so far
  for (std::size_t j = 0; j < row.size(); ++j) {
    // Entries come in ascending order, so that an equal one never displaces what is kept.
    if (last && !(row[j] > *last)) continue;
    kept.push_back(static_cast<std::int32_t>(j));
    if (kept.size() < 2 * k) continue;
    const auto kth = kept.begin() + static_cast<std::ptrdiff_t>(k - 1);
    std::nth_element(kept.begin(), kth, kept.end(), before);
    last = row[static_cast<std::size_t>(*kth)];
    kept.resize(k);
  }
  std::sort(kept.begin(), kept.end(), before);
  kept.resize(k);
  return kept;
}

/// What a row's exponentials, relative to its maximum, add up to.
struct RowSum {
  double log = 0;
  double rescaling = 0;  // what rescaling at every new maximum may lose, in u; see README.md
};

/// In float64 with blocks that are added up last.
RowSum sum_of(std::span<const float> row, double scale, double max) {
  constexpr std::size_t kBlock = 1024;
  double total = 0;
  float latest = std::numeric_limits<float>::quiet_NaN();  // long runs of one value are common here
  double latest_term = 0;
  float highest = -kInfinity;
  double before = 0;  // what the sum was at each new maximum, added up
  double before_squared = 0;
  for (std::size_t begin = 0; begin < row.size(); begin += kBlock) {
    double block = 0;
    for (const float z : row.subspan(begin, std::min(kBlock, row.size() - begin))) {
      if (!(z == latest)) latest_term = std::exp(scale * double{z} - max);
      latest = z;
      if (z > highest) {
        highest = z;
        before += total + block;
        before_squared += (total + block) * (total + block);
      }
      block += latest_term;
    }
    total += block;
  }
  return {std::log(total), (before / 4 + 2.5 * std::sqrt(before_squared)) / total};
}

double forgiven(Sums sums, double len, double rescaling) {
  switch (sums) {
    case Sums::careful:
      return 0;
    case Sums::rescaled:
      return rescaling;
    case Sums::plain:
      return 8 * std::sqrt(len);
    case Sums::any:
      return len;
  }
  return 0;
}

/// Appends one row to the answer.
class RowWriter {
 public:
  RowWriter(const Problem& problem, Sums sums, Expected& made)
      : problem_(problem), sums_(sums), made_(made) {}

  void add(std::int64_t i) {
    row_ = problem_.row(i).first(static_cast<std::size_t>(problem_.len(i)));
    made_.which.push_back(i);
    made_.spoiled.push_back(std::any_of(row_.begin(), row_.end(), [](float z) {
      return !(z < std::numeric_limits<float>::infinity());
    }));
    const auto best = made_.spoiled.back()
                          ? std::vector<std::int32_t>()
                          : first_in_order(row_, static_cast<std::size_t>(problem_.k));
    const double max = best.empty() ? -kInfinity : value(best[0]);
    const RowSum sum = max == -kInfinity ? RowSum{} : sum_of(row_, double{problem_.scale}, max);
    forgiven_ = forgiven(sums_, len(), sum.rescaling);
    for (std::size_t j = 0; j < static_cast<std::size_t>(problem_.k); ++j) {
      made_.indices.push_back(j < best.size() ? best[j] : -1);
      add_prob(j < best.size() ? value(best[j]) : -kInfinity, max, sum.log);
    }
    add_totals(max, max + sum.log);
  }

 private:
  double value(std::int32_t at) const {
    return double{problem_.scale} * double{row_[static_cast<std::size_t>(at)]};
  }
  double len() const { return static_cast<double>(row_.size()); }

  /// `above` is lse - max, which lse itself would round off where max is large.
  void add_prob(double scaled, double max, double above) {
    const double p = scaled == -kInfinity ? 0 : std::exp((scaled - max) - above);
    double units = 0;
    if (p > 0) {
      units = prob_units(max - scaled, len()) + forgiven_;
      if (problem_.scale != 1.0f) units += 2 * (std::abs(scaled) + std::abs(max));
    }
    made_.probs.push_back(p);
    // -inf and what is missing have probability 0, and nothing else.
    made_.probs_allowed.push_back(scaled == -kInfinity ? 0 : kUnitRoundoff * units * p + kSmallest);
  }

  void add_totals(double max, double lse) {
    made_.lse.push_back(lse);
    made_.lse_allowed.push_back(kUnitRoundoff * (lse_units(lse) + forgiven_));
    made_.row_max.push_back(max);
    made_.row_max_allowed.push_back(2 * kUnitRoundoff * std::abs(max) + kSmallest);
  }

  const Problem& problem_;
  Sums sums_;
  Expected& made_;
  std::span<const float> row_;
  double forgiven_ = 0;
};

}  // namespace

double prob_units(double below_max, double len) {
  return 16 * (2 + below_max + std::log2(len) / 4);
}

double lse_units(double lse) {
  return 16 * (1 + std::abs(lse));
}

Expected expect_rows(const Problem& problem, const std::vector<std::int64_t>& which, Sums sums) {
  Expected made;
  RowWriter writer(problem, sums, made);
  for (const std::int64_t i : which) writer.add(i);
  return made;
}

Expected expect(const Problem& problem, Sums sums) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(problem.rows));
  std::iota(all.begin(), all.end(), 0);
  return expect_rows(problem, all, sums);
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
