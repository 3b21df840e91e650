// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "harness/core/finding.h"
#include "oracle.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// The oracle of timed laps: the same answers and bounds as expect(), but nothing per element is
/// stored and all cores share the rows, so that tens of megabytes of dx are verified completely in
/// milliseconds.
class LapOracle {
 public:
  explicit LapOracle(const Problem& problem);

  /// The worst element of the first wrong row, or nothing. Spans have rows * cols and cols
  /// elements.
  std::optional<Miss> judge_y(std::span<const float> y) const;
  std::optional<Miss> judge_gradients(std::span<const float> dx, std::span<const float> dgamma,
                                      std::span<const float> dbeta) const;

 private:
  /// dx = r (w - a - xhat b), and the sizes that its bound is made of.
  struct RowSums {
    double mean = 0, rstd = 0, kappa = 0;
    double a = 0, b = 0;
    double w_size = 0, w_xhat_size = 0;
  };

  void add_row(std::int64_t i, Expected& columns);
  void use_statistics(std::int64_t i, RowSums& row) const;
  bool y_holds(std::int64_t i, const float* y) const;
  bool dx_holds(std::int64_t i, const float* dx) const;

  /// An array of rows: how one is judged quickly, and what expect() says of it.
  struct Part {
    const char* name;
    bool (LapOracle::*holds)(std::int64_t i, const float* row) const;
    std::vector<double> Expected::*want;
    std::vector<double> Expected::*allowed;
  };
  std::optional<Miss> judge_rows(const Part& part, std::span<const float> got) const;

  const Problem& problem_;
  int threads_;
  std::vector<double> gamma_, beta_;
  std::vector<RowSums> rows_;
  Expected columns_;  // of it the parameter gradients and their bounds only
};

}  // namespace gauntlet::GAUNTLET_CHALLENGE
