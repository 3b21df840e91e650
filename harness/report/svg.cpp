#include "harness/report/svg.h"

#include <cmath>
#include <fmt/format.h>
#include <pugixml.hpp>
#include <sstream>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/report/report.h"

namespace gauntlet {
namespace {

constexpr std::size_t kLongestText = 200;  // bytes of one text
constexpr std::size_t kLongestDescription = 8000;
constexpr double kMark = 4;  // half the width of a mark

// Letters keep one meaning in all drawings: a good, f bad. Marks and lines of several submissions
// take s0 to s7.
constexpr std::string_view kStyle =
    "text{font:12px sans-serif;fill:#24292f}.title{font-weight:bold;font-size:14px}"
    ".small{font-size:10px}.grid{stroke:#d0d7de}.axis{stroke:#57606a}"
    ".line{stroke:#0969da}.band{fill:#eaeef2}"
    ".ceiling{stroke:#cf222e;stroke-width:2}.on{fill:#1f2328}"
    ".a{fill:#7ee2a0}.b{fill:#c4e88d}.c{fill:#f6dd75}.d{fill:#f9b27c}.f{fill:#f79a94}"
    ".none{fill:#eaeef2}.kill{fill:#54a0e8}.named{fill:#0550ae}"
    ".s0{stroke:#0969da;fill:#0969da}.s1{stroke:#bc4c00;fill:#bc4c00}"
    ".s2{stroke:#1a7f37;fill:#1a7f37}.s3{stroke:#8250df;fill:#8250df}"
    ".s4{stroke:#bf3989;fill:#bf3989}.s5{stroke:#9a6700;fill:#9a6700}"
    ".s6{stroke:#1b7c83;fill:#1b7c83}.s7{stroke:#57606a;fill:#57606a}"
    ".open{fill:none}polyline{stroke-width:2}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.grid{stroke:#30363d}"
    ".axis{stroke:#8b949e}.line{stroke:#58a6ff}.band,.none{fill:#21262d}.ceiling{stroke:#ff7b72}"
    ".on{fill:#1f2328}.named{fill:#a5d6ff}"
    ".s0{stroke:#58a6ff;fill:#58a6ff}.s1{stroke:#f0883e;fill:#f0883e}"
    ".s2{stroke:#56d364;fill:#56d364}.s3{stroke:#bc8cff;fill:#bc8cff}"
    ".s4{stroke:#f778ba;fill:#f778ba}.s5{stroke:#e3b341;fill:#e3b341}"
    ".s6{stroke:#39c5cf;fill:#39c5cf}.s7{stroke:#b1bac4;fill:#b1bac4}"
    ".open{fill:none}}";

std::string pixels(double value) {
  if (!std::isfinite(value))
    throw Broken(OwnFault::bug, "a drawing was given a place that is not finite");
  return fmt::format("{:.1f}", value);
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
  svg.append_child("style").text() = std::string(kStyle).c_str();
}

Svg::~Svg() = default;

pugi::xml_node Svg::add(const char* name, std::string_view kind) {
  auto node = document_->first_child().append_child(name);
  if (!kind.empty()) set(node, "class", std::string(kind));
  return node;
}

void Svg::text(double x, double y, std::string_view anchor, std::string_view text,
               std::string_view kind) {
  auto node = add("text", kind);
  set(node, "x", pixels(x));
  set(node, "y", pixels(y));
  set(node, "text-anchor", std::string(anchor));
  node.text() = printable(text, kLongestText).c_str();
}

void Svg::slanted(double x, double y, std::string_view text) {
  auto node = add("text", "small");
  set(node, "transform", fmt::format("translate({} {}) rotate(-50)", pixels(x), pixels(y)));
  node.text() = printable(text, kLongestText).c_str();
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view kind) {
  auto node = add("line", kind);
  set(node, "x1", pixels(x1));
  set(node, "y1", pixels(y1));
  set(node, "x2", pixels(x2));
  set(node, "y2", pixels(y2));
}

void Svg::box(double x, double y, double width, double height, std::string_view kind) {
  auto node = add("rect", kind);
  set(node, "x", pixels(x));
  set(node, "y", pixels(y));
  set(node, "width", pixels(width));
  set(node, "height", pixels(height));
}

void Svg::mark(int shape, double x, double y, std::string_view kind) {
  const std::string classes =
      shape % kShapes < kShapes / 2 ? std::string(kind) : fmt::format("{} open", kind);
  auto node = add("path", classes);
  const auto at = [&](double dx, double dy) {
    return fmt::format("{} {}", pixels(x + kMark * dx), pixels(y + kMark * dy));
  };
  switch (shape % (kShapes / 2)) {
    case 0:
      set(node, "d",
          fmt::format("M{0}A{2} {2} 0 1 0 {1}A{2} {2} 0 1 0 {0}Z", at(-1, 0), at(1, 0),
                      pixels(kMark)));
      break;
    case 1:
      set(node, "d", fmt::format("M{}L{}L{}L{}Z", at(-1, -1), at(1, -1), at(1, 1), at(-1, 1)));
      break;
    case 2:
      set(node, "d",
          fmt::format("M{}L{}L{}L{}Z", at(0, -1.3), at(1.3, 0), at(0, 1.3), at(-1.3, 0)));
      break;
    default:
      set(node, "d", fmt::format("M{}L{}L{}Z", at(0, -1.2), at(1.2, 1), at(-1.2, 1)));
  }
}

void Svg::path(const std::vector<std::pair<double, double>>& points, std::string_view kind) {
  std::string text;
  for (const auto& [x, y] : points)
    text += fmt::format("{}{},{}", text.empty() ? "" : " ", pixels(x), pixels(y));
  set(add("polyline", fmt::format("{} open", kind)), "points", text);
}

std::string Svg::str() const {
  std::ostringstream out;
  out << kGeneratedMark;
  document_->save(out, "  ", pugi::format_indent | pugi::format_no_declaration);
  return out.str();
}

}  // namespace gauntlet
