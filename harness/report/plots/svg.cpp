// SPDX-License-Identifier: Apache-2.0
#include "harness/report/plots/svg.h"

#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <pugixml.hpp>
#include <sstream>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/report/text/phrases.h"

namespace gauntlet {
namespace {

constexpr std::size_t kLongestText = 200;  // bytes of one text
constexpr std::size_t kLongestDescription = 8000;
constexpr double kMark = 4;  // half the width of a mark

/// How a kind of element looks on light and on dark pages.
struct Style {
  std::string_view kind;
  std::string_view light;
  std::string_view dark;
};

// Letters keep one meaning in all drawings: a good, f bad. Marks and lines of several submissions
// take s0 to s7. What is open comes last: it has no area.
constexpr Style kStyles[]{
    {"title", "font-weight:bold;font-size:14px", ""},
    {"small", "font-size:10px", ""},
    {"mid", "text-anchor:middle", ""},
    {"end", "text-anchor:end", ""},
    {"grid", "stroke:#d0d7de", "stroke:#30363d"},
    {"axis", "stroke:#57606a", "stroke:#8b949e"},
    {"line", "stroke:#0969da", "stroke:#58a6ff"},
    {"band", "fill:#eaeef2", "fill:#21262d"},
    {"none", "fill:#eaeef2", "fill:#21262d"},
    {"ceiling", "stroke:#cf222e;stroke-width:2", "stroke:#ff7b72"},
    {"on", "fill:#1f2328", "fill:#1f2328"},
    {"a", "fill:#7ee2a0", ""},
    {"b", "fill:#c4e88d", ""},
    {"c", "fill:#f6dd75", ""},
    {"d", "fill:#f9b27c", ""},
    {"f", "fill:#f79a94", ""},
    {"kill", "fill:#54a0e8", ""},
    {"named", "fill:#0550ae", "fill:#a5d6ff"},
    {"s0", "stroke:#0969da;fill:#0969da", "stroke:#58a6ff;fill:#58a6ff"},
    {"s1", "stroke:#bc4c00;fill:#bc4c00", "stroke:#f0883e;fill:#f0883e"},
    {"s2", "stroke:#1a7f37;fill:#1a7f37", "stroke:#56d364;fill:#56d364"},
    {"s3", "stroke:#8250df;fill:#8250df", "stroke:#bc8cff;fill:#bc8cff"},
    {"s4", "stroke:#bf3989;fill:#bf3989", "stroke:#f778ba;fill:#f778ba"},
    {"s5", "stroke:#9a6700;fill:#9a6700", "stroke:#e3b341;fill:#e3b341"},
    {"s6", "stroke:#1b7c83;fill:#1b7c83", "stroke:#39c5cf;fill:#39c5cf"},
    {"s7", "stroke:#57606a;fill:#57606a", "stroke:#b1bac4;fill:#b1bac4"},
    {"open", "fill:none", "fill:none"},
};

/// The rules of those kinds that a drawing has.
std::string style_of(const std::set<std::string, std::less<>>& kinds) {
  std::string light = "text{font:12px sans-serif;fill:#24292f}polyline{stroke-width:2}";
  std::string dark = "text{fill:#e6edf3}";
  for (const Style& style : kStyles) {
    if (!kinds.contains(style.kind)) continue;
    light += fmt::format(".{}{{{}}}", style.kind, style.light);
    if (!style.dark.empty()) dark += fmt::format(".{}{{{}}}", style.kind, style.dark);
  }
  return fmt::format("{}@media(prefers-color-scheme:dark){{{}}}", light, dark);
}

std::string pixels(double value) {
  if (!std::isfinite(value))
    throw Broken(OwnFault::bug, "a drawing was given a place that is not finite");
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

void set(pugi::xml_node node, const char* name, const std::string& value) {
  node.append_attribute(name) = value.c_str();
}

}  // namespace

Svg::Svg(double width, double height, std::string_view title, std::string_view description)
    : document_(std::make_unique<pugi::xml_document>()) {
  auto svg = document_->append_child("svg");
  set(svg, "xmlns", "http://www.w3.org/2000/svg");
  set(svg, "viewBox", fmt::format("0 0 {} {}", pixels(width), pixels(height)));
  set(svg, "role", "img");
  svg.append_child("title").text() = printable(title, kLongestText).c_str();
  svg.append_child("desc").text() = printable(description, kLongestDescription).c_str();
  svg.append_child("style");
}

Svg::~Svg() = default;

pugi::xml_node Svg::add(const char* name, std::string_view kind) {
  auto node = document_->first_child().append_child(name);
  if (kind.empty()) return node;
  set(node, "class", std::string(kind));
  std::istringstream words{std::string(kind)};
  for (std::string word; words >> word;) kinds_.insert(word);
  return node;
}

void Svg::text(double x, double y, std::string_view anchor, std::string_view text,
               std::string_view kind) {
  std::string kinds(kind);
  if (anchor != "start")
    kinds += fmt::format("{}{}", kinds.empty() ? "" : " ", anchor == "middle" ? "mid" : anchor);
  auto node = add("text", kinds);
  set(node, "x", pixels(x));
  set(node, "y", pixels(y));
  node.text() = printable(text, kLongestText).c_str();
}

void Svg::slanted(double x, double y, std::string_view text) {
  auto node = add("text", "small");
  set(node, "transform", fmt::format("translate({} {}) rotate(-50)", pixels(x), pixels(y)));
  node.text() = printable(text, kLongestText).c_str();
}

void Svg::draw(std::string_view kind, const std::string& outline) {
  const std::string name(kind);
  auto path = document_->first_child().find_child_by_attribute("path", "class", name.c_str());
  if (!path) path = add("path", kind);
  auto all = path.attribute("d");
  if (!all) all = path.append_attribute("d");
  all = (all.value() + outline).c_str();
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view kind) {
  draw(kind, fmt::format("M{} {}L{} {}", pixels(x1), pixels(y1), pixels(x2), pixels(y2)));
}

void Svg::box(double x, double y, double width, double height, std::string_view kind) {
  draw(kind, fmt::format("M{} {}h{w}v{}h-{w}Z", pixels(x), pixels(y), pixels(height),
                         fmt::arg("w", pixels(width))));
}

void Svg::mark(int shape, double x, double y, std::string_view kind) {
  const std::string classes =
      shape % kShapes < kShapes / 2 ? std::string(kind) : fmt::format("{} open", kind);
  const auto at = [&](double dx, double dy) {
    return fmt::format("{} {}", pixels(x + kMark * dx), pixels(y + kMark * dy));
  };
  switch (shape % (kShapes / 2)) {
    case 0:
      return draw(classes,
                  fmt::format("M{}a{r} {r} 0 1 1 {d} 0 {r} {r} 0 1 1 -{d} 0Z", at(-1, 0),
                              fmt::arg("r", pixels(kMark)), fmt::arg("d", pixels(2 * kMark))));
    case 1:
      return box(x - kMark, y - kMark, 2 * kMark, 2 * kMark, classes);
    case 2:
      return draw(classes,
                  fmt::format("M{}L{}L{}L{}Z", at(0, -1.3), at(1.3, 0), at(0, 1.3), at(-1.3, 0)));
    default:
      return draw(classes, fmt::format("M{}L{}L{}Z", at(0, -1.2), at(1.2, 1), at(-1.2, 1)));
  }
}

void Svg::grid(const std::vector<double>& at, double top, double bottom) {
  std::string path;
  for (const double x : at)
    path += fmt::format("M{} {}V{}", pixels(x), pixels(top), pixels(bottom));
  draw("grid", path);
}

void Svg::interval(double low, double high, double y, double tip, std::string_view kind) {
  std::string path = fmt::format("M{} {}H{}", pixels(low), pixels(y), pixels(high));
  for (const double end : {low, high})
    path += fmt::format("M{} {}v{}", pixels(end), pixels(y - tip), pixels(2 * tip));
  draw(kind, path);
}

void Svg::path(const std::vector<std::pair<double, double>>& points, std::string_view kind) {
  std::string text;
  for (const auto& [x, y] : points)
    text += fmt::format("{}{},{}", text.empty() ? "" : " ", pixels(x), pixels(y));
  set(add("polyline", fmt::format("{} open", kind)), "points", text);
}

std::string Svg::str() const {
  document_->first_child().child("style").text() = style_of(kinds_).c_str();
  std::ostringstream out;
  out << kGeneratedMark;
  document_->save(out, "  ", pugi::format_indent | pugi::format_no_declaration);
  return out.str();
}

}  // namespace gauntlet
