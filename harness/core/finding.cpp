// SPDX-License-Identifier: Apache-2.0
#include "harness/core/finding.h"

#include <cmath>
#include <fmt/format.h>

namespace gauntlet {

std::string describe(const Miss& miss) {
  const double got = std::isnan(miss.got) ? std::abs(miss.got) : miss.got;  // no "-nan"
  std::string text = fmt::format("{}: got {:.9g}, want {:.9g} +- {:.2g}", miss.where, got,
                                 miss.want, miss.allowed);
  if (miss.of > 1) text += fmt::format(" ({} of {} are off)", miss.count, miss.of);
  return text;
}

}  // namespace gauntlet
