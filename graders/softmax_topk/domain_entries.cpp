// SPDX-License-Identifier: Apache-2.0
#include "domain_entries.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Argument;
using kit::Assignment;
using kit::hiding;
using kit::kInfinity;
using kit::kNan;

constexpr float kLargest = std::numeric_limits<float>::max();
constexpr double kLeastScale = 0x1p-149;

/// The largest logit whose product with the scale surely is a number.
double limit_of(const Problem& problem) {
  return problem.scale > 1 ? 0.999 * double{kLargest} / double{problem.scale} : double{kLargest};
}

/// A logit whose product with the scale is about `scaled`. Where a scale is so small that usual
/// products are out of reach, they are taken closer together: logits then reach from one end of
/// float to the other.
float unscaled(const Problem& problem, double scaled) {
  constexpr double kUsual = 6;  // two deviations
  const double limit = limit_of(problem);
  const double nearer = std::min(1.0, limit * double{problem.scale} / kUsual);
  return static_cast<float>(std::clamp(scaled * nearer / double{problem.scale}, -limit, limit));
}

/// One entry weighs more than all others together; how far below it they are is drawn.
bool below_one(const Assignment& choice) {
  return choice["entries"].least > 0;
}

bool repeats_the_first(const Assignment& choice) {
  return choice.is("entries", "the first row's but one");
}

/// The next entry of a row, as a product with the scale, from its place between 0 and 1.
using Height = std::function<double(double)>;

/// Where exponentials of float64 end: their sum overflows although each of them is a number; below
/// -708 they lose digits, and below -745 they are 0.
constexpr double kLargestExponent = 709.7827;
constexpr double kFewDigits = -740;

bool at_ends_of_exp(const Assignment& choice) {
  return choice.is("entries", "at the ends of exp");
}

/// What a row is made of, by its number: the upper end; the lower one but for one entry; or what
/// lies so far below one entry that an exponential of float or of float64 is subnormal.
enum class End { upper, lower, below_one };

End end_of(std::int64_t i) {
  return static_cast<End>(i % 3);
}

Height height_at_ends(Rng& rng, std::int64_t i, double count) {
  if (end_of(i) == End::lower) return [&rng](double) { return kFewDigits + rng.uniform(); };
  if (end_of(i) == End::below_one)
    return [&rng, depth = rng.chance(0.5) ? rng.uniform(88, 104) : rng.uniform(710, 744)](double) {
      return -depth - rng.uniform();
    };
  return [&rng, height = kLargestExponent - std::log(count)](double) {
    return height + rng.uniform(0.1, 0.2);
  };
}

Height height_of(const Assignment& choice, Rng& rng) {
  if (choice.is("entries", "all equal") || choice.is("entries", "equal but a few"))
    return [height = rng.uniform(-30, 30)](double) { return height; };
  if (choice.is("entries", "few values"))
    return [&rng](double) { return static_cast<double>(rng.integer(-3, 3)) / 4; };
  if (below_one(choice))
    return
        [&rng, depth = choice.draw_real(rng, "entries")](double) { return -depth - rng.uniform(); };
  if (choice.is("entries", "far from zero"))
    return [&rng, offset = rng.uniform(80, 800) * (rng.chance(0.5) ? 1 : -1)](double) {
      return offset + rng.normal();
    };
  if (choice.is("entries", "ascending")) return [](double place) { return 40 * place - 20; };
  if (choice.is("entries", "descending")) return [](double place) { return 20 - 40 * place; };
  return [&rng](double) { return 3 * rng.normal(); };
}

/// Entries that are not made of products.
void put_bits(const Assignment& choice, Rng& rng, const Problem& problem, std::span<float> row) {
  const auto limit = static_cast<float>(limit_of(problem));
  if (choice.is("entries", "largest, of either sign"))
    for (float& z : row) {
      z = rng.chance(0.2) ? limit : limit * static_cast<float>(rng.uniform(0.5, 1));
      if (rng.chance(0.5)) z = -z;
    }
  if (choice.is("entries", "neighbouring floats")) {
    float next = std::min(limit / 2, kBelowTwo);
    for (const std::int64_t at : kit::random_order(rng, std::ssize(row)))
      row[static_cast<std::size_t>(at)] = next = std::nextafter(next, 0.0f);
  }
  if (choice.is("entries", "zeros of either sign"))
    for (float& z : row) z = rng.chance(0.5) ? 0.0f : -0.0f;
  if (choice.is("entries", "subnormal"))
    for (float& z : row) z = static_cast<float>(rng.integer(-300, 300)) * 0x1p-149f;
}

/// `seed` is that of all rows, where they repeat the first one.
void put_entries(const Assignment& choice, Rng& rng, std::uint64_t seed, const Problem& problem,
                 std::int64_t i, std::span<float> row) {
  const auto count = static_cast<double>(row.size());
  Rng repeated(seed);
  Rng& drawn_by = repeats_the_first(choice) ? repeated : rng;
  const Height height =
      at_ends_of_exp(choice) ? height_at_ends(rng, i, count) : height_of(choice, drawn_by);
  for (std::size_t j = 0; j < row.size(); ++j)
    row[j] = unscaled(problem, height((static_cast<double>(j) + 0.5) / count));
  if (row.empty()) return;
  const auto somewhere = [&]() -> float& {
    return row[static_cast<std::size_t>(rng.integer(0, std::ssize(row) - 1))];
  };
  // At an end, so that all others come behind it, whichever way a row is walked.
  if (below_one(choice)) {
    const std::int64_t last = std::ssize(row) - 1;
    const std::int64_t at = choice.is("entries", "30 to 60 below the last")
                                ? last
                                : kit::one_of(rng, {std::int64_t{0}, last, rng.integer(0, last)});
    row[static_cast<std::size_t>(at)] = unscaled(problem, rng.uniform(0, 0.5));
  }
  if (at_ends_of_exp(choice) && end_of(i) == End::lower)
    somewhere() = unscaled(problem, kFewDigits + rng.uniform(45, 80));
  if (at_ends_of_exp(choice) && end_of(i) == End::below_one) somewhere() = 0;
  // Mostly fewer than there are winners: the last of those is one of many that are equal.
  if (choice.is("entries", "equal but a few"))
    for (std::int64_t n = rng.integer(1, problem.k); n > 0; --n)
      somewhere() = unscaled(problem, rng.uniform(-40, 40));
  if (repeats_the_first(choice)) somewhere() = unscaled(problem, rng.uniform(0, 9));
  put_bits(choice, rng, problem, row);
}

void leave_some(Rng& rng, std::span<float> row, std::int64_t count) {
  std::vector<float> kept(row.size(), -kInfinity);
  for (const std::int64_t at : random_places(rng, std::ssize(row), count))
    kept[static_cast<std::size_t>(at)] = row[static_cast<std::size_t>(at)];
  std::ranges::copy(kept, row.begin());
}

void mask(const Assignment& choice, Rng& rng, const Problem& problem, std::span<float> row) {
  const std::size_t half = row.size() / 2;
  if (choice.is("masked", "half"))
    for (float& z : row) z = rng.chance(0.5) ? -kInfinity : z;
  if (choice.is("masked", "all but one")) leave_some(rng, row, 1);
  if (choice.is("masked", "all but k - 1")) leave_some(rng, row, problem.k - 1);
  const std::size_t one = std::min<std::size_t>(row.size(), 1);
  if (choice.is("masked", "all but the first")) std::ranges::fill(row.subspan(one), -kInfinity);
  if (choice.is("masked", "all but the last"))
    std::ranges::fill(row.first(row.size() - one), -kInfinity);
  if (choice.is("masked", "first half")) std::ranges::fill(row.first(half), -kInfinity);
  if (choice.is("masked", "last half")) std::ranges::fill(row.subspan(half), -kInfinity);
  if (choice.is("masked", "everything")) std::ranges::fill(row, -kInfinity);
  if (choice.is("masked", "beside the lowest number"))
    for (float& z : row) z = rng.chance(0.5) ? -kInfinity : static_cast<float>(-limit_of(problem));
}

void spoil(const Assignment& choice, Rng& rng, std::span<float> row) {
  if (row.empty()) return;
  const float nan = std::copysign(kNan, rng.chance(0.5) ? -1.0f : 1.0f);
  float& one = row[static_cast<std::size_t>(rng.integer(0, std::ssize(row) - 1))];
  if (choice.is("spoiled rows", "a NaN in one")) one = nan;
  if (choice.is("spoiled rows", "a NaN first in one")) row.front() = nan;
  if (choice.is("spoiled rows", "a NaN last in one")) row.back() = nan;
  if (choice.is("spoiled rows", "infinity in one")) one = kInfinity;
  if (choice.is("spoiled rows", "NaN and infinities in one"))
    for (float& z : row) z = kit::one_of(rng, {nan, -nan, kInfinity, -kInfinity, z});
  if (choice.is("spoiled rows", "one of NaN"))
    for (float& z : row) z = rng.chance(0.5) ? nan : -nan;
}

/// What follows a row's last entry: the rest of its width, and the gap.
void fill_behind(const Assignment& choice, std::span<const float> row, std::span<float> behind) {
  float value = kNan;
  if (choice.is("behind rows", "infinity")) value = kInfinity;
  if (choice.is("behind rows", "the largest number")) value = kLargest;
  if (choice.is("behind rows", "the best entry again"))
    value = row.empty() ? 0.0f : *std::ranges::max_element(row);
  std::ranges::fill(behind, value);
}

}  // namespace

std::vector<Argument> entry_arguments() {
  return {
      {"scale",
       {{"1", 1, 1},
        {"0.3 to 0.9", 0.3, 0.9},
        {"1.1 to 3", 1.1, 3},
        {"nearly 1", 0.99999, 1.00001},
        {"2", 2, 2},
        {"2^-149", kLeastScale, kLeastScale},
        {"1e-42 to 1e-40", 1e-42, 1e-40},
        {"1e-38 to 2e-38", 1e-38, 2e-38},
        {"1e-30 to 1e-10", 1e-30, 1e-10},
        {"1e-4 to 1e-2", 1e-4, 1e-2},
        {"30 to 300", 30, 300},
        {"1e10 to 1e30", 1e10, 1e30},
        {"2e38 to 3.4e38", 2e38, 3.4e38},
        {"the largest", kLargest, kLargest}}},
      {"entries",
       {{"usual"},
        {"largest, of either sign"},
        {"all equal"},
        {"equal but a few"},
        {"the first row's but one"},
        {"few values"},
        {"neighbouring floats"},
        {"14 to 16.5 below one", 14, 15.5},
        {"16.5 to 24 below one", 16.5, 23},
        {"30 to 60 below the last", 30, 59},
        {"84 to 87 below one", 84, 85.8},
        {"far from zero"},
        {"at the ends of exp"},
        {"ascending"},
        {"descending"},
        hiding({"zeros of either sign"}, {"scale"}),
        {"subnormal"}}},
      {"masked",
       {{"none"},
        {"half"},
        {"all but one"},
        {"all but k - 1"},
        {"all but the first"},
        {"all but the last"},
        {"first half"},
        {"last half"},
        {"a row"},
        hiding({"everything"}),
        {"beside the lowest number"}}},
      {"spoiled rows",
       {{"none"},
        {"a NaN in one"},
        {"a NaN first in one"},
        {"a NaN last in one"},
        {"infinity in one"},
        {"NaN and infinities in one"},
        {"one of NaN"}}},
      {"behind rows", {{"NaN"}, {"infinity"}, {"the largest number"}, {"the best entry again"}}}};
}

void put_rows(const Assignment& choice, Rng& rng, Problem& problem) {
  if (problem.rows == 0) return;
  const std::int64_t last = problem.rows - 1;
  const auto some_row = [&] {
    return kit::one_of(rng, {std::int64_t{0}, last, rng.integer(0, last)});
  };
  const std::int64_t masked = some_row();
  const std::int64_t spoiled = some_row();
  const auto seed = static_cast<std::uint64_t>(rng.integer(0, std::int64_t{1} << 62));
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    const auto length = static_cast<std::size_t>(problem.len(i));
    const auto from_here =
        std::span(problem.logits).subspan(static_cast<std::size_t>(i * problem.stride));
    const auto row = from_here.first(length);
    put_entries(choice, rng, seed, problem, i, row);
    mask(choice, rng, problem, row);
    if (choice.is("masked", "a row") && i == masked) std::ranges::fill(row, -kInfinity);
    if (i == spoiled) spoil(choice, rng, row);
    const auto whole = i == last ? problem.width() : static_cast<std::size_t>(problem.stride);
    fill_behind(choice, row, from_here.first(whole).subspan(length));
  }
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
