#include "harness/report/plot.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <pugixml.hpp>
#include <sstream>

#include "harness/core/text.h"
#include "harness/report/report.h"

namespace gauntlet {
namespace {

constexpr double kWidth = 640;
constexpr double kHeight = 320;
constexpr double kLeft = 60;
constexpr double kRight = 20;
constexpr double kTop = 36;
constexpr double kBottom = 50;
constexpr int kTicks = 6;  // about so many on an axis
constexpr double kLargest = 1e12;

constexpr std::string_view kStyle =
    "text{font:12px sans-serif;fill:#24292f}.title{font-weight:bold;font-size:14px}"
    ".grid{stroke:#d0d7de}.line{stroke:#0969da;stroke-width:2;fill:none}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.grid{stroke:#30363d}"
    ".line{stroke:#58a6ff}}";

/// One direction of the plot: round numbers from a little below the data to a little above.
struct Axis {
  double low;
  double high;
  double step;
  double from;  // pixels of `low` and `high`
  double to;

  Axis(double least, double most, double from, double to) : from(from), to(to) {
    // Digits beyond the sixth cannot be told apart on an axis; a flat line gets some height.
    const double size = std::max(std::abs(least), std::abs(most));
    const double span = std::max(most - least, size > 0 ? 1e-6 * size : 1.0);
    const double rough = span / kTicks;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    step = rough <= 1.5 * power ? power : rough <= 3.5 * power ? 2 * power : 5 * power;
    if (rough > 7.5 * power) step = 10 * power;
    low = std::floor(least / step) * step;
    high = std::max(std::ceil(most / step) * step, low + step);
  }

  int ticks() const { return static_cast<int>(std::lround((high - low) / step)); }
  double value(int tick) const { return low + step * tick; }
  double place(double value) const { return from + (value - low) / (high - low) * (to - from); }
};

std::string pixels(double value) {
  return fmt::format("{:.1f}", value);
}

void write(pugi::xml_node svg, double x, double y, std::string_view anchor, std::string_view text,
           const char* kind = nullptr) {
  auto node = svg.append_child("text");
  if (kind != nullptr) node.append_attribute("class") = kind;
  node.append_attribute("x") = pixels(x).c_str();
  node.append_attribute("y") = pixels(y).c_str();
  node.append_attribute("text-anchor") = std::string(anchor).c_str();
  node.text() = printable(text, 100).c_str();
}

void rule(pugi::xml_node svg, double x1, double y1, double x2, double y2) {
  auto node = svg.append_child("line");
  node.append_attribute("class") = "grid";
  node.append_attribute("x1") = pixels(x1).c_str();
  node.append_attribute("y1") = pixels(y1).c_str();
  node.append_attribute("x2") = pixels(x2).c_str();
  node.append_attribute("y2") = pixels(y2).c_str();
}

/// A number on an axis; rounding in the sum of steps must not show as 0.30000000000000004.
std::string label(double value, double step) {
  return fmt::format("{:g}", std::abs(value) < step / 2 ? 0.0 : value);
}

void draw_axes(pugi::xml_node svg, const Axis& x, const Axis& y, const Curve& curve) {
  for (int i = 0; i <= x.ticks(); ++i) {
    const double at = x.place(x.value(i));
    rule(svg, at, y.from, at, y.to);
    write(svg, at, y.from + 18, "middle", label(x.value(i), x.step));
  }
  for (int i = 0; i <= y.ticks(); ++i) {
    const double at = y.place(y.value(i));
    rule(svg, x.from, at, x.to, at);
    write(svg, x.from - 6, at + 4, "end", label(y.value(i), y.step));
  }
  write(svg, (x.from + x.to) / 2, kHeight - 12, "middle", curve.x);
  write(svg, 8, kTop - 10, "start", curve.y);
  write(svg, kWidth / 2, 18, "middle", curve.title, "title");
}

}  // namespace

std::string draw(const Curve& curve) {
  std::vector<std::pair<double, double>> points = curve.points;
  const auto drawable = [](double value) { return std::abs(value) <= kLargest; };  // not NaN
  std::erase_if(points, [&](const auto& p) { return !drawable(p.first) || !drawable(p.second); });
  pugi::xml_document document;
  auto svg = document.append_child("svg");
  svg.append_attribute("xmlns") = "http://www.w3.org/2000/svg";
  svg.append_attribute("viewBox") = fmt::format("0 0 {:g} {:g}", kWidth, kHeight).c_str();
  svg.append_attribute("role") = "img";
  svg.append_child("title").text() = printable(curve.title, 100).c_str();
  svg.append_child("style").text() = std::string(kStyle).c_str();
  if (!points.empty()) {
    const auto by_y = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto [least, most] = std::minmax_element(points.begin(), points.end(), by_y);
    const Axis x(points.front().first, points.back().first, kLeft, kWidth - kRight);
    const Axis y(least->second, most->second, kHeight - kBottom, kTop);
    draw_axes(svg, x, y, curve);
    std::string path;
    for (const auto& [at, value] : points)
      path += fmt::format("{}{},{}", path.empty() ? "" : " ", pixels(x.place(at)),
                          pixels(y.place(value)));
    auto line = svg.append_child("polyline");
    line.append_attribute("class") = "line";
    line.append_attribute("points") = path.c_str();
  }
  std::ostringstream out;
  out << kGeneratedMark;
  document.save(out, "  ", pugi::format_indent | pugi::format_no_declaration);
  return out.str();
}

}  // namespace gauntlet
