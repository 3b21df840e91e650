// SPDX-License-Identifier: Apache-2.0
#pragma once

// What one window leaves behind on its way through the model, for the way back.
#include <cmath>
#include <vector>

#include "shape.h"
#include "vectors.h"

namespace ternary {

struct HeadState {
  HeadState(std::int64_t length, std::int64_t size)
      : q(length, size), k(length, size), v(length, size), out(length, size), log_sum(length) {}
  Table q;  // rotated, and divided by the root of the head's size
  Table k;  // rotated
  Table v;
  Table out;       // [position][size]
  Floats log_sum;  // of the exponentials of a query's scores
};

struct LayerState {
  LayerState(const TernaryModel& m, std::int64_t length)
      : x(length, m.width),
        inverse_x(length),
        normal_x(length, m.width),
        attended(length, m.width),
        y(length, m.width),
        inverse_y(length),
        normal_y(length, m.width),
        gate(length, m.hidden),
        up(length, m.hidden),
        inner(length, m.hidden) {
    for (std::int64_t h = 0; h < m.heads; ++h) heads.emplace_back(length, m.width / m.heads);
  }
  Table x;           // the layer's input
  Floats inverse_x;  // 1 / root mean square
  Table normal_x;
  std::vector<HeadState> heads;
  Table attended;  // the heads' outputs side by side
  Table y;         // after attention
  Floats inverse_y;
  Table normal_y;
  Table gate;
  Table up;
  Table inner;  // silu(gate) * up
};

/// Cosine and sine of position p, pair i at [p * size / 2 + i].
struct Angles {
  Angles(std::int64_t length, std::int64_t size)
      : pairs(size / 2), cosine(length * pairs), sine(length * pairs) {
    for (std::int64_t i = 0; i < pairs; ++i) {
      const double turn = std::pow(static_cast<double>(TERNARY_ROPE_BASE),
                                   -2.0 * static_cast<double>(i) / static_cast<double>(size));
      for (std::int64_t p = 0; p < length; ++p) {
        cosine[p * pairs + i] = static_cast<float>(std::cos(static_cast<double>(p) * turn));
        sine[p * pairs + i] = static_cast<float>(std::sin(static_cast<double>(p) * turn));
      }
    }
  }
  std::int64_t pairs;
  Floats cosine;
  Floats sine;
};

}  // namespace ternary
