// SPDX-License-Identifier: Apache-2.0
#include "quantizer.h"

#include <cmath>

#include "half.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

TernaryMatrix quantized(std::span<const float> weight, std::int64_t rows, std::int64_t columns,
                        std::int64_t group) {
  TernaryMatrix matrix{rows, columns, {}, {}};
  const auto size = static_cast<std::size_t>(group);
  for (std::size_t begin = 0; begin < weight.size(); begin += size) {
    const auto members = weight.subspan(begin, size);
    __float128 sum = 0;
    for (const float w : members) sum += std::abs(w);
    const std::uint16_t scale = nearest_half(sum, group);
    const double threshold = half_value(scale) / 2;
    for (const float w : members) {
      const bool kept = scale != 0 && std::abs(static_cast<double>(w)) > threshold;
      matrix.codes.push_back(static_cast<std::int8_t>(!kept ? 0 : w > 0 ? 1 : -1));
    }
    matrix.scales.push_back(scale);
  }
  return matrix;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
