// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "graders/kit/inputs.h"
#include "harness/core/rng.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

using kit::log_uniform;
using kit::near_to;
using kit::random_order;

/// An array of rows with something between them: row i starts at i * stride. The array ends with
/// the last element of the last row, so that a guard page can follow it.
class Rows {
 public:
  Rows() = default;
  /// Every element, gaps included, is `fill`.
  Rows(std::int64_t rows, std::int64_t cols, std::int64_t stride, float fill);

  std::int64_t stride() const { return stride_; }
  const std::vector<float>& all() const { return all_; }
  std::span<float> row(std::int64_t i) { return {all_.data() + i * stride_, width_}; }
  std::span<const float> row(std::int64_t i) const { return {all_.data() + i * stride_, width_}; }

 private:
  std::int64_t stride_ = 1;
  std::size_t width_ = 0;
  std::vector<float> all_;
};

/// One input of the challenge: what a training step, forward and backward, is called with.
struct Problem {
  std::int64_t rows = 0;
  std::int64_t cols = 1;
  double eps = 1e-5;
  std::int64_t y_stride = 1;
  std::int64_t dx_stride = 1;
  Rows x;
  Rows dy;
  std::vector<float> gamma;  // empty: null
  std::vector<float> beta;   // empty: null
  std::vector<float> mean;   // empty: the backward pass uses what forward saved
  std::vector<float> rstd;
  std::vector<std::int64_t> bad_rows;  // of NaN or infinity, which spoil them and sums over rows

  float gamma_at(std::int64_t j) const {
    return gamma.empty() ? 1.0f : gamma[static_cast<std::size_t>(j)];
  }
};

/// Elements between the end of a row and the start of the next.
struct Gaps {
  std::int64_t x = 0;
  std::int64_t dy = 0;
  std::int64_t y = 0;
  std::int64_t dx = 0;
};

/// How a problem's numbers are spread. Fields are means and deviations.
struct Spread {
  double x_mean = 0;
  double x_deviation = 1;
  double dy_mean = 0.3;  // not 0: what sums over dy must not vanish by luck
  double dy_deviation = 1;
};

/// One of ordinary size.
Spread random_spread(Rng& rng);

/// Normal x and dy, gamma of either sign with magnitude 0.25 to 2.5, normal beta, a random eps of
/// ordinary size; gaps between input rows hold NaN. Costs about 40 ns an element.
Problem make_problem(Rng& rng, std::int64_t rows, std::int64_t cols, const Spread& spread = {},
                     const Gaps& gaps = {});

/// The same with uniform instead of normal noise: 20 times faster.
Problem make_big_problem(Rng& rng, std::int64_t rows, std::int64_t cols, const Spread& spread = {},
                         const Gaps& gaps = {});

/// Draws everything in a big problem anew, in place.
void redraw(Rng& rng, Problem& problem, const Spread& spread = {});

/// Has every row of x rise, or fall, by so much from its first column to its last: parts of a long
/// row have means of their own. The mean of the row stays.
void add_ramp(Rng& rng, Problem& problem, double height);

/// So many rows that a float, which counts to 2^24, loses the last of them when it cuts them into
/// blocks for so many threads: an odd number of them, from 71 to 127.
std::int64_t rows_that_float_loses(Rng& rng, int threads);

/// Rows and threads within these bounds, such that a double loses the last row when it cuts all
/// into blocks: rows / threads * threads is less than rows. The bounds have to hold some: sums of
/// two powers of two are no such number of threads, and others are for some rows in a hundred or
/// none.
struct Cut {
  std::int64_t rows;
  int threads;
};
Cut cut_that_double_loses(Rng& rng, const Cut& least, const Cut& most);

/// One column of zeros with gradients of 1, and so many rows that rows times threads is 2^32 and
/// more; as many as a float still counts. Sums over it are exact in any order.
Problem make_tall_problem(Rng& rng, int threads);

/// For so many columns that a running sum in float would lose small terms: x is 1 or -1 and adds up
/// to 0, its squares are counted exactly, and dy is 0 but for some elements in a thousand.
Problem make_wide_problem(Rng& rng, std::int64_t rows, std::int64_t cols);

/// 6e17 to 1e18 of either sign, of seven binary digits: 1024 equal products of two add up exactly.
float near_1e18(Rng& rng);

/// Gives the problem statistics of its own: those of x, rounded to float; or drawn ones.
void give_true_statistics(Problem& problem);
void give_drawn_statistics(Rng& rng, Problem& problem);

/// The index among `count` that `place` names: "first", "last" or "random".
std::int64_t index_at(Rng& rng, std::string_view place, std::int64_t count);

/// The rows of `problem` that `order` names, in that order, without gaps.
Problem with_rows(const Problem& problem, const std::vector<std::int64_t>& order);
/// The same with x in rows that are so far apart, NaN between them.
Problem with_x_stride(const Problem& problem, std::int64_t stride);
/// All columns, in that order.
Problem with_columns(const Problem& problem, const std::vector<std::int64_t>& order);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
