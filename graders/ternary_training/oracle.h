// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "problem.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Sums of float64 products, and the sum of the sizes of their terms: what float32 may be off by is
/// a multiple of that.
struct Sums {
  std::vector<double> value;
  std::vector<double> size;
  std::int64_t terms = 1;  // of each sum

  /// A float32 sum of n products, in any order and split in any way, is within n + 2 roundings of
  /// the size (Higham 2002, section 4.2); weights take one more when a scale is multiplied in.
  std::vector<double> allowed() const;
};

struct ExpectedLinear {
  Sums y, input_gradient, weight_gradient;
};

ExpectedLinear expect(const LinearProblem& problem);

/// Logits of one window in float64, and what float32 may be off by.
struct ExpectedLogits {
  std::vector<double> logits;   // [tokens][vocab]
  std::vector<double> allowed;  // the same
};

/// The contract's formulas, one after the other, in float64 and plain loops. Shares nothing with
/// Network, which it is held against.
ExpectedLogits expect(const Checkpoint& checkpoint, std::span<const std::uint16_t> token);

/// The same where sums cancel, as they may in models of few and odd numbers: what becomes of the
/// logits when every sum of the oracle is off by a float32 rounding, or by several where it is
/// long. At least `want.allowed`.
std::vector<double> allowed_where_cancelled(const Checkpoint& checkpoint,
                                            std::span<const std::uint16_t> token,
                                            const ExpectedLogits& want);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
