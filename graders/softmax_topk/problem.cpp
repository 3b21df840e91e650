// SPDX-License-Identifier: Apache-2.0
#include "problem.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

namespace gauntlet::GAUNTLET_CHALLENGE {

Problem blank_problem(std::int64_t rows, std::int64_t vocab, std::int64_t k, std::int64_t gap) {
  Problem made;
  made.rows = rows;
  made.vocab = vocab;
  made.k = std::min(k, vocab);
  made.stride = vocab + gap;
  if (rows > 0)
    made.logits.assign(static_cast<std::size_t>((rows - 1) * made.stride + vocab),
                       std::numeric_limits<float>::quiet_NaN());
  return made;
}

Problem make_problem(Rng& rng, std::int64_t rows, std::int64_t vocab, std::int64_t k,
                     const Spread& spread, std::int64_t gap) {
  Problem made = blank_problem(rows, vocab, k, gap);
  made.options.threads = static_cast<int>(rng.integer(1, 4));
  for (std::int64_t i = 0; i < rows; ++i) fill_noise(rng, made.row(i), spread);
  return made;
}

void fill_noise(Rng& rng, std::span<float> values, const Spread& spread) {
  kit::fill_bell(rng, values, spread.mean, spread.deviation);
}

void plant(Rng& rng, std::span<float> row, const std::vector<std::int64_t>& where) {
  const float top = *std::max_element(row.begin(), row.end());
  double height = top + 1.0 + static_cast<double>(where.size()) * 0x1p-8;
  for (const std::int64_t at : where) {
    row[static_cast<std::size_t>(at)] = static_cast<float>(height);
    height -= rng.uniform(0x1p-10, 0x1p-8);
  }
}

Problem uncountable_maxima(Rng& rng) {
  Problem problem = blank_problem(1, (1 << 24) + rng.integer(1 << 20, 1 << 21), rng.integer(1, 9));
  std::ranges::fill(problem.row(0), static_cast<float>(rng.uniform(-3, 3)));
  problem.options.threads = static_cast<int>(rng.integer(1, 2));
  return problem;
}

Problem no_rows_of_the_longest(Rng& rng) {
  constexpr std::int64_t kLongest = std::numeric_limits<std::int32_t>::max();
  return blank_problem(0, kLongest, rng.chance(0.5) ? kLongest : 1, rng.integer(0, 9));
}

Problem more_winners_than_a_stack_holds(Rng& rng) {
  const std::int64_t many = (1 << 21) + rng.integer(50'000, 90'000);
  Problem problem = blank_problem(1, many, many - rng.integer(0, 99));
  problem.valid_len = {rng.integer(1, 40)};
  problem.options.threads = 1;  // below the stack of one of several may lie that of another
  fill_noise(rng, problem.row(0).first(static_cast<std::size_t>(problem.len(0))));
  return problem;
}

void make_pairs(std::span<float> row, const std::vector<std::int64_t>& where) {
  for (std::size_t n = 1; n < where.size(); n += 2)
    row[static_cast<std::size_t>(where[n])] = row[static_cast<std::size_t>(where[n - 1])];
}

void plant_neighbours(Rng& rng, std::span<float> row, float least) {
  for (const std::int64_t at : random_places(rng, std::ssize(row), kNeighbours)) {
    row[static_cast<std::size_t>(at)] = least;
    least = std::nextafter(least, std::numeric_limits<float>::infinity());
  }
}

void plant_scaled_ties(Rng& rng, std::span<float> row, std::int64_t k, float scale) {
  const auto above = [](float value) { return std::nextafter(value, 2 * value); };
  float value = 1;
  do value = static_cast<float>(rng.uniform(1, 2));
  while (scale * value != scale * above(value));
  std::fill_n(row.begin(), std::min(k, std::ssize(row)), value);
  if (std::ssize(row) <= k) return;
  const auto behind = row.subspan(static_cast<std::size_t>(k));
  for (const std::int64_t at :
       random_places(rng, std::ssize(behind), std::max<std::int64_t>(1, k / 2)))
    behind[static_cast<std::size_t>(at)] = above(value);
}

void change_units(Problem& problem, int exponent) {
  problem.scale = std::ldexp(problem.scale, exponent);
  for (float& z : problem.logits) z = std::ldexp(z, -exponent);
}

std::vector<std::int64_t> random_places(Rng& rng, std::int64_t below, std::int64_t count) {
  count = std::min(count, below);
  std::vector<std::int64_t> places;
  if (count > below / 4) {
    places = kit::random_order(rng, below);
    places.resize(static_cast<std::size_t>(count));
    return places;
  }
  std::unordered_set<std::int64_t> known;
  while (std::ssize(places) < count)
    if (const std::int64_t at = rng.integer(0, below - 1); known.insert(at).second)
      places.push_back(at);
  return places;
}

void draw_lengths(Rng& rng, Problem& problem) {
  problem.valid_len.resize(static_cast<std::size_t>(problem.rows));
  for (std::int64_t& length : problem.valid_len) length = rng.integer(0, problem.vocab);
}

// Floats above 2^24 are even, and a tie goes to the multiple of four.
std::int64_t longer_than_floats(Rng& rng) {
  return (std::int64_t{1} << 24) + 4 * rng.integer(50, 75) + 1;
}

std::vector<std::int64_t> Dealing::places_of_one(Rng& rng, std::int64_t vocab,
                                                 std::int64_t count) const {
  const std::int64_t thread = rng.integer(0, threads - 1);
  auto places = random_places(rng, vocab / (threads * run) * run, count);
  for (std::int64_t& at : places) at = (at / run * threads + thread) * run + at % run;
  return places;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
