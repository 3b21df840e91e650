#pragma once

#include <string>
#include <vector>

namespace gauntlet {

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
