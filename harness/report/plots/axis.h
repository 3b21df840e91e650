// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace gauntlet {

/// Size and margins of a drawing, in pixels; a height that depends on what is drawn is left 0.
struct Layout {
  double width = 0;
  double height = 0;
  double left = 0;
  double right = 0;
  double top = 0;
  double bottom = 0;

  constexpr double x_end() const { return width - right; }
  constexpr double x_middle() const { return (left + x_end()) / 2; }
  constexpr double y_end() const { return height - bottom; }
};

/// One direction of a drawing: where a value lies, and the round numbers to write beside it.
struct Axis {
  struct Tick {
    double value = 0;
    std::string label;
  };
  double low = 0;
  double high = 1;
  double from = 0;  // pixels of `low` and `high`
  double to = 1;
  bool logarithmic = false;
  std::vector<Tick> ticks;

  double place(double value) const;
};

/// From a little below the data to a little above.
Axis linear_axis(double least, double most, double from, double to);

/// The same for ratios: values are held between 1e-4 and 1e4, and 1 is always on the axis.
Axis logarithmic_axis(double least, double most, double from, double to);

}  // namespace gauntlet
