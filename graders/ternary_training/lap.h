// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "call.h"
#include "harness/measure/race.h"

// The timed calls. Each class draws the input of a round and judges its laps: a sample of each,
// quickly enough for all, and everything of the one that counts.
namespace gauntlet::GAUNTLET_CHALLENGE {

/// A window of the graded model; all logits are compared with those of our own float32 network.
class ForwardLap {
 public:
  static constexpr TernaryModel kModel{512, 128, 4, 4, 384, 128, 128};

  void prepare(Rng& inputs, Rng& judge);
  Lap run(Session& session) const;

 private:
  std::optional<Miss> miss(std::span<const float> logits) const;

  std::vector<std::uint8_t> bytes_;
  Text token_;
  std::vector<float> want_;
};

/// A matrix to quantise; a few dozen rows, others in every round, are decided exactly.
class QuantizeLap {
 public:
  static constexpr std::int64_t kRows = 2048;
  static constexpr std::int64_t kColumns = 2048;
  static constexpr std::int64_t kGroup = 128;

  void prepare(Rng& inputs, Rng& judge);
  Lap run(Session& session) const;

 private:
  std::optional<Miss> miss(const std::vector<std::int64_t>& rows,
                           std::span<const std::uint8_t> codes,
                           std::span<const std::uint16_t> scales) const;
  std::optional<Miss> miss_of(std::int64_t row, std::span<const std::uint8_t> codes,
                              std::span<const std::uint16_t> scales) const;

  QuantizeProblem problem_{kRows, kColumns, kGroup, {}};
  std::vector<std::int64_t> rows_;
};

/// A layer; a few hundred entries of every result, others in every round, are summed in float64.
class GradientLap {
 public:
  static constexpr std::int64_t kRows = 384;
  static constexpr std::int64_t kColumns = 128;
  static constexpr std::int64_t kGroup = 128;
  static constexpr std::int64_t kCount = 1024;

  void prepare(Rng& inputs, Rng& judge);
  Lap run(Session& session) const;

 private:
  /// Entries of the three results, by their places in them.
  struct Places {
    std::vector<std::int64_t> y, input_gradient, weight_gradient;
  };
  struct Got {
    std::vector<float> y, input_gradient, weight_gradient;
  };
  std::optional<Miss> miss(const Places& places, const Got& got) const;

  LinearProblem problem_;
  TernaryMatrix matrix_;
  Places sample_;
};

}  // namespace gauntlet::GAUNTLET_CHALLENGE
