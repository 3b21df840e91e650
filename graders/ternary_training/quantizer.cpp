// SPDX-License-Identifier: Apache-2.0
#include "quantizer.h"

#include <cmath>

#include "half.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// The sum of the sizes, exactly: in float64 while nothing is lost there, which is faster.
__float128 sum_of_sizes(std::span<const float> weight) {
  double sum = 0;
  std::size_t i = 0;
  for (; i < weight.size(); ++i) {
    const double size = std::abs(static_cast<double>(weight[i]));
    const double next = sum + size;
    if (next - sum != size || next - size != sum) break;
    sum = next;
  }
  __float128 exact = sum;
  for (; i < weight.size(); ++i) exact += std::abs(weight[i]);
  return exact;
}

}  // namespace

TernaryMatrix quantized(std::span<const float> weight, std::int64_t rows, std::int64_t columns,
                        std::int64_t group) {
  TernaryMatrix matrix{rows, columns, {}, {}};
  const auto size = static_cast<std::size_t>(group);
  for (std::size_t begin = 0; begin < weight.size(); begin += size) {
    const auto members = weight.subspan(begin, size);
    const std::uint16_t scale = nearest_half(sum_of_sizes(members), group);
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
