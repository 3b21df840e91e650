// SPDX-License-Identifier: Apache-2.0
#include "harness/score/profile.h"

#include <cmath>

namespace gauntlet {
namespace {

std::optional<SectionProfile> section_mean(const Board& board, const std::string& submission,
                                           Section section) {
  SectionProfile profile{section, {}, 0, std::nullopt, std::nullopt};
  for (const auto& challenge : board.challenges()) {
    const BoardCell* cell = board.find(submission, challenge);
    if (!cell) continue;
    for (const auto& scored : cell->score.sections) {
      if (scored.section != section) continue;
      profile.mean.low += scored.score;
      profile.mean.high += scored.high;
      ++profile.challenges;
    }
  }
  if (profile.challenges == 0) return std::nullopt;
  profile.mean.low /= profile.challenges;
  profile.mean.high /= profile.challenges;
  return profile;
}

void compare_with(const std::vector<Interval>& others, SectionProfile& profile) {
  if (others.empty()) return;
  Interval sum;
  for (const Interval& mean : others) sum = {sum.low + mean.low, sum.high + mean.high};
  const auto count = static_cast<double>(others.size());
  profile.others = Interval{sum.low / count, sum.high / count};
  if (others.size() < 2 || sum.low < sum.high || profile.mean.low < profile.mean.high) return;
  const double own = profile.mean.low;
  const double all = (sum.low + own) / (count + 1);
  double squares = (own - all) * (own - all);
  for (const Interval& mean : others) squares += (mean.low - all) * (mean.low - all);
  const double spread = std::sqrt(squares / (count + 1));
  if (spread > 0) profile.deviation = (own - all) / spread;
}

/// One section of all submissions of a device, whose places in the result are `group`.
void add_section(const Board& board, Section section, const std::vector<std::size_t>& group,
                 std::vector<std::vector<SectionProfile>>& result) {
  std::vector<std::optional<SectionProfile>> means;
  for (const std::size_t i : group)
    means.push_back(section_mean(board, board.submissions()[i], section));
  for (std::size_t own = 0; own < group.size(); ++own) {
    if (!means[own]) continue;
    std::vector<Interval> others;
    for (std::size_t other = 0; other < group.size(); ++other)
      if (other != own && means[other] && !is_reference_row(board.submissions()[group[other]]))
        others.push_back(means[other]->mean);
    compare_with(others, *means[own]);
    result[group[own]].push_back(*means[own]);
  }
}

}  // namespace

std::vector<std::vector<SectionProfile>> profiles(const Board& board) {
  std::vector<std::vector<SectionProfile>> result(board.submissions().size());
  for (const Device device : kAllDevices) {
    std::vector<std::size_t> group;
    for (std::size_t i = 0; i < result.size(); ++i)
      if (CellKey::of(board.submissions()[i]).device == device) group.push_back(i);
    for (const Section section : kAllSections) add_section(board, section, group, result);
  }
  return result;
}

}  // namespace gauntlet
