// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

#include "harness/report/plots/axis.h"
#include "harness/report/plots/plots.h"
#include "harness/report/plots/svg.h"
#include "harness/report/text/phrases.h"

namespace gauntlet {
namespace {

constexpr Layout kTrajectoryLayout{.width = 720,
                                   .height = 340,
                                   .left = 50,
                                   .right = 180,  // for the names at the ends of the lines
                                   .top = 40,
                                   .bottom = 40};
constexpr double kLineHeight = 14;
constexpr std::size_t kMostLines = 8;

struct Line {
  std::string name;
  std::vector<std::pair<int, double>> points;  // by round
};

std::vector<Line> lines_of(const Aggregate& aggregate) {
  std::vector<Line> lines;
  for (const auto& submission : aggregate.submissions) {
    Line line{submission.name, {}};
    for (const auto& round : submission.rounds)
      if (round.mean) line.points.emplace_back(round.round, round.mean->low);
    if (!line.points.empty() && !submission.is_reference() && lines.size() < kMostLines)
      lines.push_back(std::move(line));
  }
  return lines;
}

std::string in_words(const std::vector<Line>& lines) {
  std::string text;
  for (const auto& line : lines) {
    std::vector<std::string> points;
    for (const auto& [round, mean] : line.points)
      points.push_back(fmt::format("round {} {}", round, gauntlet::points(mean)));
    text += fmt::format("{}: {}. ", line.name, fmt::join(points, ", "));
  }
  return text;
}

/// Names at the heights of their last points, moved apart where they would overlap.
void write_names(Svg& svg, const std::vector<Line>& lines, const Axis& y) {
  std::vector<std::pair<double, std::size_t>> ends;
  for (std::size_t i = 0; i < lines.size(); ++i)
    ends.emplace_back(y.place(lines[i].points.back().second), i);
  std::sort(ends.begin(), ends.end());
  double last = kTrajectoryLayout.top - kLineHeight;
  for (const auto& [at, index] : ends) {
    last = std::max(at, last + kLineHeight);
    const std::string kind = fmt::format("s{}", index);
    svg.mark(static_cast<int>(index), kTrajectoryLayout.x_end() + 20, last, kind);
    svg.text(kTrajectoryLayout.x_end() + 30, last + 4, "start", lines[index].name);
  }
}

}  // namespace

std::string draw_trajectory(const Aggregate& aggregate) {
  const auto lines = lines_of(aggregate);
  std::set<int> all;
  for (const auto& line : lines)
    for (const auto& point : line.points) all.insert(point.first);
  if (all.size() < 2) return "";
  const std::vector<int> rounds(all.begin(), all.end());
  const Axis y = linear_axis(0, 100, kTrajectoryLayout.y_end(), kTrajectoryLayout.top);
  const auto x = [&](int round) {
    const auto at = std::find(rounds.begin(), rounds.end(), round) - rounds.begin();
    return kTrajectoryLayout.left + (kTrajectoryLayout.x_end() - kTrajectoryLayout.left) *
                                        static_cast<double>(at) /
                                        static_cast<double>(rounds.size() - 1);
  };
  Svg svg(kTrajectoryLayout.width, kTrajectoryLayout.height, "Mean score by round",
          in_words(lines));
  svg.text(12, 22, "start", "Mean score by round", "title");
  for (const auto& tick : y.ticks) {
    svg.line(kTrajectoryLayout.left, y.place(tick.value), kTrajectoryLayout.x_end(),
             y.place(tick.value), "grid");
    svg.text(kTrajectoryLayout.left - 6, y.place(tick.value) + 4, "end", tick.label);
  }
  for (const int round : rounds)
    svg.text(x(round), kTrajectoryLayout.height - 18, "middle", fmt::format("round {}", round));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string kind = fmt::format("s{}", i);
    std::vector<std::pair<double, double>> path;
    for (const auto& [round, mean] : lines[i].points) path.emplace_back(x(round), y.place(mean));
    svg.path(path, kind);
    for (const auto& [at, height] : path) svg.mark(static_cast<int>(i), at, height, kind);
  }
  write_names(svg, lines, y);
  return svg.str();
}

}  // namespace gauntlet
