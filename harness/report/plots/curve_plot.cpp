// SPDX-License-Identifier: Apache-2.0
#include "harness/report/plots/curve_plot.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "harness/report/plots/axis.h"
#include "harness/report/plots/svg.h"

namespace gauntlet {
namespace {

constexpr Layout kCurveLayout{
    .width = 640, .height = 320, .left = 60, .right = 20, .top = 36, .bottom = 50};
constexpr double kLargest = 1e12;

void draw_axes(Svg& svg, const Axis& x, const Axis& y, const Curve& curve) {
  for (const auto& tick : x.ticks) {
    const double at = x.place(tick.value);
    svg.line(at, y.from, at, y.to, "grid");
    svg.text(at, y.from + 18, "middle", tick.label);
  }
  for (const auto& tick : y.ticks) {
    const double at = y.place(tick.value);
    svg.line(x.from, at, x.to, at, "grid");
    svg.text(x.from - 6, at + 4, "end", tick.label);
  }
  svg.text((x.from + x.to) / 2, kCurveLayout.height - 12, "middle", curve.x);
  svg.text(8, kCurveLayout.top - 10, "start", curve.y);
  svg.text(kCurveLayout.width / 2, 18, "middle", curve.title, "title");
}

/// "nats over seconds: 6.2 at 0, 3.85 at 59.5".
std::string in_words(const Curve& curve, const std::vector<std::pair<double, double>>& points) {
  if (points.empty()) return "no points";
  const auto [first_x, first_y] = points.front();
  const auto [last_x, last_y] = points.back();
  return fmt::format("{} over {}: {:g} at {:g}, {:g} at {:g}", curve.y, curve.x, first_y, first_x,
                     last_y, last_x);
}

}  // namespace

std::string draw(const Curve& curve) {
  std::vector<std::pair<double, double>> points = curve.points;
  const auto drawable = [](double value) { return std::abs(value) <= kLargest; };  // not NaN
  std::erase_if(points, [&](const auto& p) { return !drawable(p.first) || !drawable(p.second); });
  Svg svg(kCurveLayout.width, kCurveLayout.height, curve.title, in_words(curve, points));
  if (points.empty()) return svg.str();
  const auto by_y = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [least, most] = std::minmax_element(points.begin(), points.end(), by_y);
  const Axis x = linear_axis(points.front().first, points.back().first, kCurveLayout.left,
                             kCurveLayout.x_end());
  const Axis y = linear_axis(least->second, most->second, kCurveLayout.y_end(), kCurveLayout.top);
  draw_axes(svg, x, y, curve);
  for (auto& [at, value] : points) {
    at = x.place(at);
    value = y.place(value);
  }
  svg.path(points, "line");
  return svg.str();
}

}  // namespace gauntlet
