// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include "harness/report/plots/interval_plot.h"
#include "harness/report/plots/plots.h"
#include "harness/report/text/phrases.h"

namespace gauntlet {
namespace {

constexpr std::size_t kMostRows = 8;  // submissions in one drawing, best means first

/// The rows that are drawn, the reference only where it is asked for.
std::vector<std::string> drawn(const Aggregate& aggregate, bool with_reference) {
  std::vector<std::string> names;
  for (const auto& row : aggregate.rows())
    if (!is_reference_row(row) && names.size() < kMostRows) names.push_back(row);
  for (const auto& row : aggregate.rows())
    if (with_reference && is_reference_row(row)) names.push_back(row);
  return names;
}

struct TimedCase {
  std::string check;
  std::string name;
};

/// Timed cases of a challenge in the order in which they were first met.
std::vector<TimedCase> timed_cases(const Aggregate& aggregate, const std::string& challenge) {
  std::vector<TimedCase> cases;
  for (const auto& cell : aggregate.cells) {
    if (cell.challenge() != challenge) continue;
    for (const auto& check : cell.checks)
      for (const auto& speed : check.seen.speeds)
        if (std::none_of(cases.begin(), cases.end(), [&](const TimedCase& known) {
              return known.check == check.seen.info.id && known.name == speed.case_name;
            }))
          cases.push_back({check.seen.info.id, speed.case_name});
  }
  return cases;
}

const SpeedMeasurement* speed_of(const ReportedCell* cell, const TimedCase& timed) {
  const ReportedCheck* check = cell ? cell->find(timed.check) : nullptr;
  if (!check) return nullptr;
  for (const auto& speed : check->seen.speeds)
    if (speed.case_name == timed.name) return &speed;
  return nullptr;
}

IntervalGroup speed_group(const Aggregate& aggregate, const std::string& challenge,
                          const TimedCase& timed) {
  IntervalGroup group{fmt::format("{}: {}", timed.check, timed.name), std::nullopt, {}};
  const auto names = drawn(aggregate, false);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto* speed = speed_of(aggregate.find(names[i], challenge), timed);
    if (!speed) continue;
    IntervalRow row{names[i], static_cast<int>(i), {{speed->ratio, speed->low, speed->high}}, {}};
    if (const auto share = ceiling_share(speed->ceiling_share); share && *share > 0)
      row.ceiling = speed->ratio / *share;
    const std::pair noise{speed->noise_low, speed->noise_high};
    group.band = group.band ? std::pair{std::min(group.band->first, noise.first),
                                        std::max(group.band->second, noise.second)}
                            : noise;
    group.rows.push_back(std::move(row));
  }
  return group;
}

}  // namespace

std::string draw_speed(const Aggregate& aggregate, const std::string& challenge) {
  IntervalPlot plot{
      fmt::format("{}: speed against the reference", challenge),
      "times as fast as the reference, 99 % interval",
      "upright line of a row: the machine's ceiling; band: the reference against itself",
      true,
      1,
      {}};
  for (const auto& timed : timed_cases(aggregate, challenge))
    plot.groups.push_back(speed_group(aggregate, challenge, timed));
  return draw(std::move(plot));
}

std::string draw_ceilings(const Aggregate& aggregate) {
  IntervalPlot plot{"Share of the machine's ceiling",
                    "% of the ceiling",
                    "a mark for each timed case; without one where the ceiling was found too low",
                    false,
                    100,
                    {}};
  const auto names = drawn(aggregate, true);
  for (const auto& challenge : aggregate.standard_challenges()) {
    IntervalGroup group{challenge, std::nullopt, {}};
    for (std::size_t i = 0; i < names.size(); ++i) {
      IntervalRow row{names[i], static_cast<int>(i), {}, {}};
      for (const auto& timed : timed_cases(aggregate, challenge)) {
        const auto* speed = speed_of(aggregate.find(names[i], challenge), timed);
        if (!speed || !ceiling_share(speed->ceiling_share)) continue;
        const double percent = *speed->ceiling_share * 100;
        row.marks.push_back({percent, percent, percent});
      }
      group.rows.push_back(std::move(row));
    }
    plot.groups.push_back(std::move(group));
  }
  return draw(std::move(plot));
}

}  // namespace gauntlet
