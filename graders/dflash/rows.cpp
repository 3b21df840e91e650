// SPDX-License-Identifier: Apache-2.0
#include "rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graders/kit/inputs.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

struct Levels {
  float low = -1;
  float top = 1;
};

Levels levels_of(RowKind kind, std::size_t best) {
  constexpr float kMost = std::numeric_limits<float>::max();
  switch (kind) {
    case RowKind::plain:
      break;
    case RowKind::forbidden:  // nothing is below what stands before the first
      return {-kit::kInfinity, best == 0 ? -kit::kInfinity : -kMost};
    case RowKind::infinite:
      return {best == 0 ? kit::kInfinity : -1, kit::kInfinity};
    case RowKind::above_all:
      return {kMost, kit::kInfinity};
    case RowKind::opposite:
      return {-kit::kInfinity, kit::kInfinity};
    case RowKind::far_down:
      return {-3.4e38f, -3.3e38f};
    case RowKind::lowest:
      return {-kit::kInfinity, -kMost};
    case RowKind::float_apart:
      return {std::nextafter(1.0f, 0.0f), 1};
    case RowKind::subnormal:
      return {-1e-40f, -1e-45f};
    case RowKind::zeros:
      return {-1, -0.0f};
    case RowKind::farthest:
      return {-kMost, kMost};
  }
  return {};
}

}  // namespace

void write_row(std::span<float> row, std::size_t best, RowKind kind, Rng& rng) {
  const Levels levels = levels_of(kind, best);
  std::ranges::fill(row, levels.low);
  row[best] = levels.top;
  if (kind == RowKind::forbidden) return;
  // A zero equals a minus zero.
  const float equal = kind == RowKind::zeros ? 0 : levels.top;
  constexpr std::uint32_t kFifth = 0x33333333;
  kit::fill_from<1>(rng, row.subspan(best + 1), [=](const std::int32_t* word, std::size_t) {
    return static_cast<std::uint32_t>(*word) < kFifth ? equal : levels.low;
  });
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
