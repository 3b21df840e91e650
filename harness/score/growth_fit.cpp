// SPDX-License-Identifier: Apache-2.0
#include "harness/score/growth_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace gauntlet {
namespace {

// MiB. Solutions that allocate nothing of their own were seen to hold 0.05 to 0.1.
constexpr double kLibraries = 0.125;
constexpr double kPages = 1.0 / 32;

/// Student's t for a two-sided 95 %, by degrees of freedom; that of 5 for more, which is larger
/// than theirs.
double student(std::size_t freedom) {
  constexpr std::array kTable{12.706, 4.303, 3.182, 2.776, 2.571};
  return kTable[std::min(freedom, kTable.size()) - 1];
}

/// Sizes are positive and costs no less than `least`; a stored document may say anything.
bool is_sound(const Growth& growth, double least) {
  return std::all_of(growth.points.begin(), growth.points.end(), [least](const auto& point) {
    return std::isfinite(point.first) && std::isfinite(point.second) && point.first > 0 &&
           point.second >= least;
  });
}

double exponent_between(double small, double large, double sizes) {
  return std::log(large / small) / std::log(sizes);
}

}  // namespace

std::optional<Exponent> fitted_exponent(const Growth& growth) {
  const auto& points = growth.points;
  constexpr double kOneNanosecond = 1;
  if (points.size() < 3 || !is_sound(growth, kOneNanosecond)) return std::nullopt;
  const auto count = static_cast<double>(points.size());
  double mean_x = 0;
  double mean_y = 0;
  for (const auto& [size, cost] : points) {
    mean_x += std::log(size) / count;
    mean_y += std::log(cost) / count;
  }
  double xx = 0;
  double xy = 0;
  double yy = 0;
  for (const auto& [size, cost] : points) {
    const double x = std::log(size) - mean_x;
    const double y = std::log(cost) - mean_y;
    xx += x * x;
    xy += x * y;
    yy += y * y;
  }
  if (!(xx > 0)) return std::nullopt;
  const double slope = xy / xx;
  const double left = std::max(0.0, yy - slope * xy);
  const double half = student(points.size() - 2) * std::sqrt(left / (count - 2) / xx);
  return Exponent{slope, {slope - half, slope + half}};
}

std::optional<WorkspaceGrowth> workspace_growth(const Growth& growth) {
  if (growth.points.size() < 2 || !is_sound(growth, 0)) return std::nullopt;
  const auto [first_size, small] = growth.points.front();
  const auto [last_size, large] = growth.points.back();
  const double sizes = last_size / first_size;
  if (!(sizes > 1)) return std::nullopt;
  WorkspaceGrowth seen;
  seen.visible = std::abs(large - small) > kPages;
  const double low = exponent_between(small + kPages, std::max(large - kPages, kPages), sizes);
  const double own = small - kPages - kLibraries;  // at least so much is the solution's
  const double high = own > 0
                          ? exponent_between(own, std::max(large + kPages - kLibraries, own), sizes)
                          : std::numeric_limits<double>::infinity();
  seen.exponent = {std::max(0.0, low), std::max(0.0, high)};
  return seen;
}

}  // namespace gauntlet
