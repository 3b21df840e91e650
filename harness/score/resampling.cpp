// SPDX-License-Identifier: Apache-2.0
#include "harness/score/resampling.h"

#include <algorithm>
#include <cmath>

#include "harness/core/rng.h"

namespace gauntlet {
namespace {

double drawn(const std::vector<double>& attempts, float share) {
  const auto count = static_cast<float>(attempts.size());
  const auto index = static_cast<std::size_t>(share * count);
  return attempts[std::min(index, attempts.size() - 1)];
}

}  // namespace

Resamples::Resamples(int resamples, std::size_t challenges, double confidence)
    : challenges_(challenges), confidence_(confidence) {
  Rng rng(derive(Seed(), "gauntlet.resampling/1"));  // nobody gains by knowing it
  const auto last = static_cast<std::int64_t>(challenges) - 1;
  for (std::size_t i = 0; i < static_cast<std::size_t>(resamples) * challenges; ++i) {
    const auto challenge = static_cast<std::uint32_t>(rng.integer(0, last));
    const auto first = static_cast<float>(rng.uniform());
    draws_.push_back({challenge, first, static_cast<float>(rng.uniform())});
  }
}

Interval Resamples::difference(const AttemptScores& first, const AttemptScores& second) const {
  std::vector<double> differences;
  for (std::size_t begin = 0; begin < draws_.size(); begin += challenges_) {
    double sum = 0;
    for (std::size_t i = begin; i < begin + challenges_; ++i)
      sum += drawn(first[draws_[i].challenge], draws_[i].first) -
             drawn(second[draws_[i].challenge], draws_[i].second);
    differences.push_back(sum / static_cast<double>(challenges_));
  }
  const auto outside = (1 - confidence_) / 2 * static_cast<double>(differences.size());
  const auto low = differences.begin() + static_cast<std::ptrdiff_t>(outside);
  const auto high = differences.end() - 1 - static_cast<std::ptrdiff_t>(outside);
  std::nth_element(differences.begin(), low, differences.end());
  const double lowest = *low;  // which the next search moves
  std::nth_element(differences.begin(), high, differences.end());
  return {lowest, *high};
}

double least_p(int challenges) {
  return std::exp2(1 - challenges);
}

}  // namespace gauntlet
