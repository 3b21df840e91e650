// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pugi {
class xml_document;
class xml_node;
}  // namespace pugi

namespace gauntlet {

/// A drawing as an SVG file that stands alone, suits light and dark pages, runs no script and asks
/// for no other file. Text from anywhere stays text. The same calls give the same bytes; a place
/// that is not finite is our fault and throws Broken. What is of one kind is one element, where
/// the first of it was drawn: a drawing is small, and kinds lie over one another in that order.
class Svg {
 public:
  /// `title` and `description` are what a screen reader says instead of the drawing.
  Svg(double width, double height, std::string_view title, std::string_view description);
  ~Svg();
  Svg(const Svg&) = delete;
  Svg& operator=(const Svg&) = delete;

  /// The kinds that style() knows: "", "title", "small", "on" (over a filled box).
  void text(double x, double y, std::string_view anchor, std::string_view text,
            std::string_view kind = "");
  /// Text that leans to the right, its beginning at the place.
  void slanted(double x, double y, std::string_view text);
  void line(double x1, double y1, double x2, double y2, std::string_view kind);
  void box(double x, double y, double width, double height, std::string_view kind);
  /// Shapes that differ without their colours: 0 circle, 1 square, 2 diamond, 3 triangle, and
  /// hollow ones from 4 on; then again.
  void mark(int shape, double x, double y, std::string_view kind);
  /// Upright lines from `top` to `bottom`, for the numbers of an axis.
  void grid(const std::vector<double>& at, double top, double bottom);
  /// A horizontal line with upright ends, `tip` up and down.
  void interval(double low, double high, double y, double tip, std::string_view kind);
  void path(const std::vector<std::pair<double, double>>& points, std::string_view kind);

  std::string str() const;

  static constexpr int kShapes = 8;

 private:
  pugi::xml_node add(const char* name, std::string_view kind);
  /// Adds to the outline of a kind. Outlines turn clockwise, so that those that overlap fill both.
  void draw(std::string_view kind, const std::string& outline);

  std::unique_ptr<pugi::xml_document> document_;
  std::set<std::string, std::less<>> kinds_;  // that were drawn
};

}  // namespace gauntlet
