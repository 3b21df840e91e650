// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the experiments on the graded set-up settled.
#include <cstdint>

namespace ternary::recipe {

inline constexpr double kLearningRate = 6e-3;
inline constexpr double kWarmUp = 0.05;  // share of the way; after it the rate falls to 0
inline constexpr float kLargestGradient = 1;
inline constexpr float kTeacherTrust = 0.6f;

/// Dropout grows with the passes through the text to come.
inline constexpr double kDropoutAPass = 0.01;
inline constexpr double kMostDropout = 0.2;

/// Small budgets want many small updates rather than few good ones.
inline constexpr double kUpdates = 1000;
inline constexpr double kFewestUpdates = 250;
inline constexpr std::int64_t kLargestBatch = 512;  // tokens

/// A clock alone does not make a text worth more passes than this.
inline constexpr std::int64_t kPasses = 64;

/// Texts of more tokens are not learnt by heart, and counting them would take long.
inline constexpr std::int64_t kLargestCountedText = 1 << 20;

}  // namespace ternary::recipe
