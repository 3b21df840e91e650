// SPDX-License-Identifier: Apache-2.0
#include "harness/report/plots/interval_plot.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "harness/core/text.h"
#include "harness/report/plots/axis.h"
#include "harness/report/plots/svg.h"

namespace gauntlet {
namespace {

constexpr Layout kIntervalLayout{.width = 760, .left = 150, .right = 24, .top = 40, .bottom = 62};
constexpr double kRow = 18;
constexpr double kHeading = 22;
constexpr double kTip = 3;  // half the height of an interval's ends

/// Takes away what cannot be drawn, and rows and groups that are empty then.
void clean(IntervalPlot& plot) {
  const auto bad = [&](double value) {
    return !std::isfinite(value) || (plot.logarithmic && value <= 0);
  };
  for (auto& group : plot.groups) {
    if (group.band && (bad(group.band->first) || bad(group.band->second))) group.band.reset();
    for (auto& row : group.rows) {
      if (row.ceiling && bad(*row.ceiling)) row.ceiling.reset();
      std::erase_if(row.marks, [&](const IntervalMark& mark) {
        return bad(mark.value) || bad(mark.low) || bad(mark.high);
      });
    }
    std::erase_if(group.rows, [](const IntervalRow& row) { return row.marks.empty(); });
  }
  std::erase_if(plot.groups, [](const IntervalGroup& group) { return group.rows.empty(); });
}

std::string in_words(const IntervalPlot& plot) {
  std::string text = fmt::format("{}; {}. ", plot.axis, plot.note);
  for (const auto& group : plot.groups) {
    std::vector<std::string> rows;
    for (const auto& row : group.rows) {
      std::string values;
      for (const auto& mark : row.marks) values += fmt::format(" {:.3g}", mark.value);
      rows.push_back(row.label + values);
    }
    text += fmt::format("{}: {}. ", group.title, sentence_list(rows));
  }
  return text;
}

Axis axis_of(const IntervalPlot& plot) {
  double least = plot.rule;
  double most = plot.rule;
  const auto reach = [&](double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  };
  for (const auto& group : plot.groups)
    for (const auto& row : group.rows) {
      if (row.ceiling) reach(*row.ceiling);
      for (const auto& mark : row.marks) {
        reach(mark.low);
        reach(mark.high);
      }
    }
  return plot.logarithmic
             ? logarithmic_axis(least, most, kIntervalLayout.left, kIntervalLayout.x_end())
             : linear_axis(std::min(0.0, least), most, kIntervalLayout.left,
                           kIntervalLayout.x_end());
}

double height_of(const IntervalGroup& group) {
  return kHeading + kRow * static_cast<double>(group.rows.size());
}

void draw_row(Svg& svg, const Axis& x, const IntervalRow& row, double y) {
  svg.text(kIntervalLayout.left - 8, y + 4, "end", row.label, "small");
  const std::string kind = fmt::format("s{}", row.style % Svg::kShapes);
  if (row.ceiling) {
    const double at = x.place(*row.ceiling);
    svg.line(at, y - kRow / 2 + 2, at, y + kRow / 2 - 2, "ceiling");
  }
  for (const auto& mark : row.marks) {
    if (mark.low < mark.high) svg.interval(x.place(mark.low), x.place(mark.high), y, kTip, kind);
    svg.mark(row.style, x.place(mark.value), y, kind);
  }
}

}  // namespace

std::string draw(IntervalPlot plot) {
  clean(plot);
  if (plot.groups.empty()) return "";
  double bottom = kIntervalLayout.top;
  for (const auto& group : plot.groups) bottom += height_of(group);
  const Axis x = axis_of(plot);
  Svg svg(kIntervalLayout.width, bottom + kIntervalLayout.bottom, plot.title, in_words(plot));
  svg.text(12, 22, "start", plot.title, "title");
  double y = kIntervalLayout.top;
  for (const auto& group : plot.groups) {
    if (group.band)
      svg.box(x.place(group.band->first), y + kHeading,
              x.place(group.band->second) - x.place(group.band->first), height_of(group) - kHeading,
              "band");
    y += height_of(group);
  }
  std::vector<double> grid;
  for (const auto& tick : x.ticks) {
    grid.push_back(x.place(tick.value));
    svg.text(x.place(tick.value), bottom + 16, "middle", tick.label, "small");
  }
  svg.grid(grid, kIntervalLayout.top, bottom);
  svg.line(x.place(plot.rule), kIntervalLayout.top, x.place(plot.rule), bottom, "axis");
  svg.text(kIntervalLayout.x_middle(), bottom + 34, "middle", plot.axis);
  svg.text(kIntervalLayout.x_middle(), bottom + 52, "middle", plot.note, "small");
  y = kIntervalLayout.top;
  for (const auto& group : plot.groups) {
    svg.text(12, y + 15, "start", group.title);
    for (std::size_t i = 0; i < group.rows.size(); ++i)
      draw_row(svg, x, group.rows[i], y + kHeading + kRow * (static_cast<double>(i) + 0.5));
    y += height_of(group);
  }
  return svg.str();
}

}  // namespace gauntlet
