// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "harness/core/stats.h"

namespace gauntlet {

/// The share of races in which the interval does not hold the median.
inline constexpr double kMissed = 0.01;

/// How many of the smallest, and of the largest, of `count` values an interval of order statistics
/// leaves out.
std::size_t left_out_on_each_side(std::size_t count);

/// The fewest pairs of which an interval can be given: 8. With 12 it leaves out one on each side.
inline constexpr std::size_t kFewestPairs = 8;

/// How many independent pairs tell as much about the median as these do, in the order in which they
/// were run; never more than there are.
double effective_pairs(const std::vector<double>& logs);

/// The median of the pairs' ratios, and the interval that holds the true one.
struct PairedRatio {
  double median = 0;
  Interval interval;

  double width() const { return interval.high / interval.low; }
};

/// What is taken of pairs: that they may resemble those before them and count as effective_pairs()
/// says; or that each tells something of its own, as where other laps lie between them.
enum class Pairs { resemble_their_neighbours, are_apart };

/// Of the logarithms of the ratios in the order of the pairs, kFewestPairs or more of them. Throws
/// std::invalid_argument.
PairedRatio paired_ratio(const std::vector<double>& logs,
                         Pairs pairs = Pairs::resemble_their_neighbours);

}  // namespace gauntlet
