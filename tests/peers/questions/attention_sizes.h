// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graders/kit/attention.h"
#include "tests/peers/question.h"

namespace gauntlet::peers {

/// Both attentions: four heads of 128 queries and keys, 32 columns each.
inline kit::AttentionSizes attention_sizes(const Shape& shape) {
  const std::int64_t length = part_of(128, shape.length, shape.plus);
  const std::int64_t heads =
      shape.group * part_of(4, shape.rows / static_cast<double>(shape.group));
  return {1, heads, heads / shape.group, length, length, 32, 32};
}

}  // namespace gauntlet::peers
