// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "harness/store/observation.h"

namespace gauntlet {

/// The curve over its two axes, as an SVG file that stands alone and suits light and dark pages.
/// The same curve gives the same bytes. Points that are not finite, or beyond 1e12, are left out.
std::string draw(const Curve& curve);

}  // namespace gauntlet
