// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graders/kit/call_options.h"
#include "harness/core/rng.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

using kit::near_to;
using kit::one_of;

/// `far`: the rows of logits.
struct CallOptions : kit::CallOptions {
  bool lse = true, row_max = true;  // which are asked for; others are null
  std::optional<float> old = {};    // what outputs hold before the call; else poison
};

/// One input of the challenge.
struct Problem {
  std::int64_t rows = 0;
  std::int64_t vocab = 1;
  std::int64_t k = 1;
  std::int64_t stride = 1;  // elements from row to row; what lies between two rows is NaN
  float scale = 1;
  CallOptions options;

  std::vector<float> logits;            // ends with the last entry of the last row
  std::vector<std::int64_t> valid_len;  // empty: null

  std::span<float> row(std::int64_t i) { return {logits.data() + i * stride, width()}; }
  std::span<const float> row(std::int64_t i) const { return {logits.data() + i * stride, width()}; }
  std::size_t width() const { return static_cast<std::size_t>(vocab); }
  std::int64_t len(std::int64_t i) const {
    return valid_len.empty() ? vocab : valid_len[static_cast<std::size_t>(i)];
  }
};

/// How logits are spread.
struct Spread {
  double mean = 0;
  double deviation = 3;  // a softmax over such a row is neither flat nor one-hot
};

/// k is cut to vocab. Every entry is NaN.
Problem blank_problem(std::int64_t rows, std::int64_t vocab, std::int64_t k, std::int64_t gap = 0);

/// Bell-shaped random logits and a random number of threads, 1 to 4.
Problem make_problem(Rng& rng, std::int64_t rows, std::int64_t vocab, std::int64_t k,
                     const Spread& spread = {}, std::int64_t gap = 0);

/// Bell-shaped noise, for about 1.5 ns an entry.
void fill_noise(Rng& rng, std::span<float> values, const Spread& spread = {});

/// Raises the entries at `where` above all others of the row, by steps of their own: the first one
/// is the largest. Their distances are random and at least 2^-10.
void plant(Rng& rng, std::span<float> row, const std::vector<std::int64_t>& where);

/// One row of entries that are all its maximum, more than a float counts.
Problem uncountable_maxima(Rng& rng);

/// No rows of as many entries as the contract allows, and as many winners.
Problem no_rows_of_the_longest(Rng& rng);

/// One row of winners most of which are absent, since it is short, and so many that 4 bytes for
/// each are more than the 8 MiB of a stack.
Problem more_winners_than_a_stack_holds(Rng& rng);

/// Of entries that were planted, every second one becomes equal to the one before it.
void make_pairs(std::span<float> row, const std::vector<std::int64_t>& where);

/// Entries that follow each other in the order of floats, from `least` up: as many as kNeighbours,
/// or as the row has, at random places. The others are left as they are.
void plant_neighbours(Rng& rng, std::span<float> row, float least);
constexpr std::int64_t kNeighbours = 200;
constexpr float kBelowTwo = 2 - kNeighbours * 0x1p-23f;  // the last one is below 2

/// Winners of a row of which the first lie at its front and are alike, and the others, at random
/// places behind them, are the next float above: multiplied with `scale`, all are the same one.
void plant_scaled_ties(Rng& rng, std::span<float> row, std::int64_t k, float scale);

/// The same question in other units: the scale times 2^exponent, the logits divided by it. Products
/// of the two stay what they were to the last bit, as long as neither leaves the normal numbers.
void change_units(Problem& problem, int exponent);

/// `count` different numbers of 0 .. below - 1, in random order.
std::vector<std::int64_t> random_places(Rng& rng, std::int64_t below, std::int64_t count);

/// Lengths of their own for all rows: 0 to vocab.
void draw_lengths(Rng& rng, Problem& problem);

/// A length some 200 to 300 above 2^24 that is no float: the nearest one is below it.
std::int64_t longer_than_floats(Rng& rng);

/// One way of dealing entries out to threads: thread t gets runs of `run` neighbours.
struct Dealing {
  std::int64_t threads;
  std::int64_t run;

  /// Random entries of one thread, `count` or as many as it has whole runs for.
  std::vector<std::int64_t> places_of_one(Rng& rng, std::int64_t vocab, std::int64_t count) const;
};

}  // namespace gauntlet::GAUNTLET_CHALLENGE
