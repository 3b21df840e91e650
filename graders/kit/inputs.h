#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <ranges>
#include <span>
#include <vector>

#include "harness/core/rng.h"
#include "harness/worker/call.h"

/// Draws and numbers that graders make inputs of.
namespace gauntlet::kit {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// `value`, one less or one more, at random; at least `least`. Around the sizes where vector loops
/// and fixed limits end, that is where faults live.
std::int64_t near_to(Rng& rng, std::int64_t value, std::int64_t least = 1);

/// Log-uniform between two positive numbers.
double log_uniform(Rng& rng, double low, double high);

/// 0 .. count - 1, shuffled.
std::vector<std::int64_t> random_order(Rng& rng, std::int64_t count);

/// One of the values, at random.
template <std::ranges::random_access_range Values>
std::ranges::range_value_t<Values> one_of(Rng& rng, const Values& values) {
  return std::ranges::begin(values)[rng.integer(0, std::ssize(values) - 1)];
}
template <class T>
T one_of(Rng& rng, std::initializer_list<T> values) {
  return one_of(rng, std::span(values.begin(), values.end()));
}

/// What is known of the address of a buffer placed so: the largest power of two that divides it.
std::int32_t guaranteed_alignment(const Placement& placement);

/// A counter mixed twice (the 32-bit finaliser of MurmurHash3): no state, so that a loop over it
/// vectorises. Inline like the loops below, because a grader is compiled for the machine at hand
/// and the kit is not.
inline std::int32_t mixed(std::uint32_t i, std::uint32_t low, std::uint32_t high) {
  std::uint32_t h = (i ^ low) * 0x9e3779b1u + high;
  h = (h ^ (h >> 16)) * 0x85ebca6bu;
  h = (h ^ (h >> 13)) * 0xc2b2ae35u;
  return static_cast<std::int32_t>(h ^ (h >> 16));
}

/// mean + deviation * noise, uniform with deviation 1. The same seed gives the same numbers, 20
/// times faster than from an Rng.
inline void fill_uniform(std::span<float> values, std::uint64_t seed, double mean = 0,
                         double deviation = 1) {
  const auto low = static_cast<std::uint32_t>(seed);
  const auto high = static_cast<std::uint32_t>(seed >> 32);
  const float scale = static_cast<float>(deviation * std::sqrt(3.0) * 0x1p-31);
  const float centre = static_cast<float>(mean);
  const auto count = static_cast<std::uint32_t>(values.size());
  for (std::uint32_t i = 0; i < count; ++i)
    values[i] = centre + scale * static_cast<float>(mixed(i, low, high));
}

/// The same with bell-shaped noise: no tail beyond 3 deviations, and 2^24 values and more, so that
/// ties are rare.
inline void fill_bell(std::span<float> values, std::uint64_t seed, double mean = 0,
                      double deviation = 1) {
  const auto a = static_cast<std::uint32_t>(seed);
  const auto b = static_cast<std::uint32_t>(seed >> 32);
  const std::uint32_t c = (a ^ 0x61c88647u) + b;
  const auto fraction = [](std::uint32_t i, std::uint32_t key) {  // of 1, with either sign
    return static_cast<float>(mixed(i, key, key >> 7)) * 0x1p-31f;
  };
  const float spread = static_cast<float>(deviation);
  const float centre = static_cast<float>(mean);
  const auto count = static_cast<std::uint32_t>(values.size());
  for (std::uint32_t i = 0; i < count; ++i)  // three uniform numbers have deviation 1 together
    values[i] = centre + spread * (fraction(i, a) + fraction(i, b) + fraction(i, c));
}

}  // namespace gauntlet::kit
