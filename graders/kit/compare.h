// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/core/finding.h"

namespace gauntlet::kit {

/// Names the element at a flat index: "dx[6][1023]".
using IndexNamer = std::function<std::string(std::int64_t)>;

/// Names elements of a row-major array with the given extents, outermost first.
IndexNamer index_namer(std::string name, std::vector<std::int64_t> extents);

/// True only when got is shown to be close. Written "pass if <=", so that a NaN fails. A wanted NaN
/// asks for a NaN, a wanted infinity for that infinity.
bool within(double want, double got, double allowed);

/// Element-wise |got - want| <= allowed. Reports the worst element (by |error| / allowed), with the
/// number of misses. Sizes must agree; a difference throws Broken, because sizes are the grader's.
std::optional<Miss> worst_miss(std::span<const float> got, std::span<const double> want,
                               std::span<const double> allowed, const IndexNamer& name);
std::optional<Miss> worst_miss(std::span<const double> got, std::span<const double> want,
                               std::span<const double> allowed, const IndexNamer& name);

/// Exact equality of every element, NaN equal to nothing and -0 equal to +0.
std::optional<Miss> first_difference(std::span<const std::int32_t> got,
                                     std::span<const std::int32_t> want, const IndexNamer& name);
std::optional<Miss> first_difference(std::span<const float> got, std::span<const float> want,
                                     const IndexNamer& name);

/// Largest |got - want| / (unit * bound): how much of a tolerance's constant was used. For
/// calibration and for checks that grade by degree. NaN counts as infinity.
double worst_ratio(std::span<const float> got, std::span<const double> want,
                   std::span<const double> bound, double unit);

}  // namespace gauntlet::kit
