// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/compare.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "harness/core/error.h"

namespace gauntlet::kit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void require_same_size(std::size_t got, std::size_t want, const char* what) {
  if (got != want)
    throw Broken(OwnFault::bug, fmt::format("comparing {} elements with {} {}", got, want, what));
}

/// |error| / allowed, NaN as infinity: the worst element is the one a reader should see.
double badness(double want, double got, double allowed) {
  if (got == want) return 0;  // infinities as well, whose difference is NaN
  const double error = std::abs(got - want);
  if (std::isnan(error)) return kInfinity;
  return allowed > 0 ? error / allowed : kInfinity;
}

template <class Number>
std::optional<Miss> worst_miss_of(std::span<const Number> got, std::span<const double> want,
                                  std::span<const double> allowed, const IndexNamer& name) {
  require_same_size(got.size(), want.size(), "wanted values");
  require_same_size(got.size(), allowed.size(), "tolerances");
  std::int64_t count = 0;
  std::size_t worst = 0;
  double worst_badness = -1;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (within(want[i], got[i], allowed[i])) continue;
    ++count;
    if (const double bad = badness(want[i], got[i], allowed[i]); bad > worst_badness) {
      worst_badness = bad;
      worst = i;
    }
  }
  if (count == 0) return std::nullopt;
  return Miss{
      name(static_cast<std::int64_t>(worst)), got[worst], want[worst], allowed[worst], count,
      static_cast<std::int64_t>(got.size())};
}

template <class Number>
std::optional<Miss> first_difference_of(std::span<const Number> got, std::span<const Number> want,
                                        const IndexNamer& name) {
  require_same_size(got.size(), want.size(), "wanted values");
  std::int64_t count = 0;
  std::size_t first = 0;
  for (std::size_t i = got.size(); i-- > 0;)
    if (!(got[i] == want[i])) {
      ++count;
      first = i;
    }
  if (count == 0) return std::nullopt;
  return Miss{name(static_cast<std::int64_t>(first)),
              static_cast<double>(got[first]),
              static_cast<double>(want[first]),
              0,
              count,
              static_cast<std::int64_t>(got.size())};
}

}  // namespace

IndexNamer index_namer(std::string name, std::vector<std::int64_t> extents) {
  return [name = std::move(name), extents = std::move(extents)](std::int64_t flat) {
    std::string text;
    for (std::size_t axis = extents.size(); axis-- > 0;) {
      const std::int64_t extent = std::max<std::int64_t>(1, extents[axis]);
      text = fmt::format("[{}]", axis == 0 ? flat : flat % extent) + text;
      flat /= extent;
    }
    return name + text;
  };
}

bool within(double want, double got, double allowed) {
  if (std::isnan(want)) return std::isnan(got);
  if (std::isinf(want)) return got == want;
  return std::abs(got - want) <= allowed;
}

std::optional<Miss> worst_miss(std::span<const float> got, std::span<const double> want,
                               std::span<const double> allowed, const IndexNamer& name) {
  return worst_miss_of(got, want, allowed, name);
}

std::optional<Miss> worst_miss(std::span<const double> got, std::span<const double> want,
                               std::span<const double> allowed, const IndexNamer& name) {
  return worst_miss_of(got, want, allowed, name);
}

std::optional<Miss> first_difference(std::span<const std::int32_t> got,
                                     std::span<const std::int32_t> want, const IndexNamer& name) {
  return first_difference_of(got, want, name);
}

std::optional<Miss> first_difference(std::span<const float> got, std::span<const float> want,
                                     const IndexNamer& name) {
  return first_difference_of(got, want, name);
}

double worst_ratio(std::span<const float> got, std::span<const double> want,
                   std::span<const double> bound, double unit) {
  require_same_size(got.size(), want.size(), "wanted values");
  require_same_size(got.size(), bound.size(), "bounds");
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    worst = std::max(worst, badness(want[i], got[i], unit * bound[i]));
  return worst;
}

}  // namespace gauntlet::kit
