// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gauntlet {

/// A measured value with its interval, at a place of a row.
struct IntervalMark {
  double value = 0;
  double low = 0;
  double high = 0;
};

/// One row of a plot: who, and what was measured.
struct IntervalRow {
  std::string label;
  int style = 0;
  std::vector<IntervalMark> marks;
  std::optional<double> ceiling;
};

struct IntervalGroup {
  std::string title;
  std::optional<std::pair<double, double>> band;  // noise, behind the rows
  std::vector<IntervalRow> rows;
};

/// Values in rows over one horizontal axis. Values that are not finite, or not above zero on a
/// logarithmic axis, are left out.
struct IntervalPlot {
  std::string title;
  std::string axis;
  std::string note;  // how to read what is drawn, under the axis
  bool logarithmic = false;
  double rule = 1;  // a vertical line to compare with
  std::vector<IntervalGroup> groups;
};

/// Empty when nothing is left to draw.
std::string draw(IntervalPlot plot);

}  // namespace gauntlet
