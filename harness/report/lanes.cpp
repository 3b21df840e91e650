#include "harness/report/lanes.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "harness/core/text.h"
#include "harness/report/axis.h"
#include "harness/report/svg.h"

namespace gauntlet {
namespace {

constexpr double kWidth = 760;
constexpr double kLeft = 150;
constexpr double kRight = 24;
constexpr double kTop = 40;
constexpr double kBottom = 62;
constexpr double kLane = 18;
constexpr double kHeading = 22;
constexpr double kTip = 3;  // half the height of an interval's ends

/// Takes away what cannot be drawn, and lanes and groups that are empty then.
void clean(LaneChart& chart) {
  const auto bad = [&](double value) {
    return !std::isfinite(value) || (chart.logarithmic && value <= 0);
  };
  for (auto& group : chart.groups) {
    if (group.band && (bad(group.band->first) || bad(group.band->second))) group.band.reset();
    for (auto& lane : group.lanes) {
      if (lane.ceiling && bad(*lane.ceiling)) lane.ceiling.reset();
      std::erase_if(lane.marks, [&](const LaneMark& mark) {
        return bad(mark.value) || bad(mark.low) || bad(mark.high);
      });
    }
    std::erase_if(group.lanes, [](const Lane& lane) { return lane.marks.empty(); });
  }
  std::erase_if(chart.groups, [](const LaneGroup& group) { return group.lanes.empty(); });
}

std::string in_words(const LaneChart& chart) {
  std::string text = fmt::format("{}; {}. ", chart.axis, chart.note);
  for (const auto& group : chart.groups) {
    std::vector<std::string> lanes;
    for (const auto& lane : group.lanes) {
      std::string values;
      for (const auto& mark : lane.marks)
        values += mark.low < mark.high
                      ? fmt::format(" {:.3g} ({:.3g} to {:.3g})", mark.value, mark.low, mark.high)
                      : fmt::format(" {:.3g}", mark.value);
      if (lane.ceiling) values += fmt::format(", ceiling at {:.3g}", *lane.ceiling);
      lanes.push_back(lane.label + values);
    }
    text += fmt::format("{}: {}. ", group.title, sentence_list(lanes));
  }
  return text;
}

Axis axis_of(const LaneChart& chart) {
  double least = chart.rule;
  double most = chart.rule;
  const auto reach = [&](double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  };
  for (const auto& group : chart.groups)
    for (const auto& lane : group.lanes) {
      if (lane.ceiling) reach(*lane.ceiling);
      for (const auto& mark : lane.marks) {
        reach(mark.low);
        reach(mark.high);
      }
    }
  return chart.logarithmic ? logarithmic_axis(least, most, kLeft, kWidth - kRight)
                           : linear_axis(std::min(0.0, least), most, kLeft, kWidth - kRight);
}

double height_of(const LaneGroup& group) {
  return kHeading + kLane * static_cast<double>(group.lanes.size());
}

void draw_lane(Svg& svg, const Axis& x, const Lane& lane, double y) {
  svg.text(kLeft - 8, y + 4, "end", lane.label, "small");
  const std::string kind = fmt::format("s{}", lane.style % Svg::kShapes);
  if (lane.ceiling) {
    const double at = x.place(*lane.ceiling);
    svg.line(at, y - kLane / 2 + 2, at, y + kLane / 2 - 2, "ceiling");
  }
  for (const auto& mark : lane.marks) {
    if (mark.low < mark.high) {
      svg.line(x.place(mark.low), y, x.place(mark.high), y, kind);
      for (const double end : {mark.low, mark.high})
        svg.line(x.place(end), y - kTip, x.place(end), y + kTip, kind);
    }
    svg.mark(lane.style, x.place(mark.value), y, kind);
  }
}

}  // namespace

std::string draw(LaneChart chart) {
  clean(chart);
  if (chart.groups.empty()) return "";
  double bottom = kTop;
  for (const auto& group : chart.groups) bottom += height_of(group);
  const Axis x = axis_of(chart);
  Svg svg(kWidth, bottom + kBottom, chart.title, in_words(chart));
  svg.text(12, 22, "start", chart.title, "title");
  double y = kTop;
  for (const auto& group : chart.groups) {
    if (group.band)
      svg.box(x.place(group.band->first), y + kHeading,
              x.place(group.band->second) - x.place(group.band->first), height_of(group) - kHeading,
              "band");
    y += height_of(group);
  }
  for (const auto& tick : x.ticks) {
    svg.line(x.place(tick.value), kTop, x.place(tick.value), bottom, "grid");
    svg.text(x.place(tick.value), bottom + 16, "middle", tick.label, "small");
  }
  svg.line(x.place(chart.rule), kTop, x.place(chart.rule), bottom, "axis");
  svg.text((kLeft + kWidth - kRight) / 2, bottom + 34, "middle", chart.axis);
  svg.text((kLeft + kWidth - kRight) / 2, bottom + 52, "middle", chart.note, "small");
  y = kTop;
  for (const auto& group : chart.groups) {
    svg.text(12, y + 15, "start", group.title);
    for (std::size_t i = 0; i < group.lanes.size(); ++i)
      draw_lane(svg, x, group.lanes[i], y + kHeading + kLane * (static_cast<double>(i) + 0.5));
    y += height_of(group);
  }
  return svg.str();
}

}  // namespace gauntlet
