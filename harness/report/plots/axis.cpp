// SPDX-License-Identifier: Apache-2.0
#include "harness/report/plots/axis.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr int kTicks = 6;  // about so many on a linear axis
constexpr double kSmallestRatio = 1e-4;
constexpr double kLargestRatio = 1e4;
constexpr double kFewDecades = 3.2;  // up to here, 2 and 5 are written as well

double share(double value, double low, double high) {
  return (value - low) / (high - low);
}

}  // namespace

double Axis::place(double value) const {
  const double inside = std::clamp(value, low, high);
  const double at = logarithmic ? share(std::log(inside), std::log(low), std::log(high))
                                : share(inside, low, high);
  return from + at * (to - from);
}

Axis linear_axis(double least, double most, double from, double to) {
  // Digits beyond the sixth cannot be told apart on an axis; a flat line gets some height.
  const double size = std::max(std::abs(least), std::abs(most));
  const double span = std::max(most - least, size > 0 ? 1e-6 * size : 1.0);
  const double rough = span / kTicks;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = rough <= 1.5 * power ? power : rough <= 3.5 * power ? 2 * power : 5 * power;
  if (rough > 7.5 * power) step = 10 * power;
  Axis axis{0, 0, from, to, false, {}};
  axis.low = std::floor(least / step) * step;
  axis.high = std::max(std::ceil(most / step) * step, axis.low + step);
  const auto ticks = std::lround((axis.high - axis.low) / step);
  for (long i = 0; i <= ticks; ++i) {
    const double value = axis.low + step * static_cast<double>(i);
    // Rounding in the sum of steps must not show as 0.30000000000000004.
    axis.ticks.push_back({value, fmt::format("{:g}", std::abs(value) < step / 2 ? 0.0 : value)});
  }
  return axis;
}

Axis logarithmic_axis(double least, double most, double from, double to) {
  const double low = std::clamp(least / 1.1, kSmallestRatio, 0.9);
  const double high = std::clamp(most * 1.1, 1.1, kLargestRatio);
  const bool few = std::log10(high / low) <= kFewDecades;
  Axis axis{low, high, from, to, true, {}};
  for (int decade = -4; decade <= 4; ++decade)
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double value = digit * std::pow(10, decade);
      if (value < low || value > high || (!few && digit != 1.0)) continue;
      axis.ticks.push_back({value, fmt::format("{:g}x", value)});
    }
  return axis;
}

}  // namespace gauntlet
