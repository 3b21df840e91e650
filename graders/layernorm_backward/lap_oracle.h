#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "cases.h"
#include "harness/core/finding.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// The oracle of timed laps: the same answers and bounds as expect(), but nothing per element is
/// stored and all cores share the rows, so that tens of megabytes of dx are verified completely in
/// milliseconds.
class LapOracle {
 public:
  explicit LapOracle(const Problem& problem);

  /// The worst element of the first wrong row, or nothing. Spans have rows * cols and cols
  /// elements.
  std::optional<Miss> judge_forward(std::span<const float> y) const;
  std::optional<Miss> judge(std::span<const float> dx, std::span<const float> dgamma,
                            std::span<const float> dbeta) const;

 private:
  /// dx = r (w - a - xhat b), and the sizes that its bound is made of.
  struct RowSums {
    double mean = 0, rstd = 0, kappa = 0;
    double a = 0, b = 0;
    double w_size = 0, w_xhat_size = 0;
  };

  /// Sums over rows, one for each column.
  struct ColumnSums {
    explicit ColumnSums(std::size_t cols);
    void add(const ColumnSums& other);
    std::vector<double> dgamma, dbeta, dgamma_allowed, dbeta_allowed;
  };

  void add_row(std::int64_t i, ColumnSums& columns);
  void use_statistics(std::int64_t i, RowSums& row) const;
  bool y_holds(std::int64_t i, const float* y) const;
  bool dx_holds(std::int64_t i, const float* dx) const;
  std::int64_t first_row_that_fails(const std::function<bool(std::int64_t)>& holds) const;
  Problem row_alone(std::int64_t i) const;

  const Problem& problem_;
  int threads_;
  std::vector<double> gamma_, beta_;
  std::vector<RowSums> rows_;
  ColumnSums columns_;
};

}  // namespace gauntlet::GAUNTLET_CHALLENGE
