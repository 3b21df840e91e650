// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
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

/// Values made of `kWords` random words of 32 bits each, which come from the stream itself: a
/// solution that has seen some of an input cannot compute the rest instead of reading it. Inline,
/// because a grader is compiled for the machine at hand and the kit is not.
template <std::size_t kWords, class Make>
void fill_from(Rng& rng, std::span<float> values, const Make& make) {
  constexpr std::size_t kChunk = 2048;  // the words of a chunk stay in the first cache
  alignas(64) std::array<std::int32_t, kWords * kChunk> words;
  for (std::size_t at = 0; at < values.size(); at += kChunk) {
    const std::size_t count = std::min(kChunk, values.size() - at);
    rng.fill(std::as_writable_bytes(std::span(words).first(kWords * count)));
    for (std::size_t i = 0; i < count; ++i) values[at + i] = make(words.data() + i, count);
  }
}

/// mean + deviation * noise, uniform with deviation 1: 20 times faster than number by number.
inline void fill_uniform(Rng& rng, std::span<float> values, double mean = 0, double deviation = 1) {
  const float scale = static_cast<float>(deviation * std::sqrt(3.0) * 0x1p-31);
  const float centre = static_cast<float>(mean);
  fill_from<1>(rng, values, [=](const std::int32_t* word, std::size_t) {
    return centre + scale * static_cast<float>(*word);
  });
}

/// The same with bell-shaped noise: no tail beyond 3 deviations, and 2^24 values and more, so that
/// ties are rare.
inline void fill_bell(Rng& rng, std::span<float> values, double mean = 0, double deviation = 1) {
  const float spread = static_cast<float>(deviation);
  const float centre = static_cast<float>(mean);
  fill_from<2>(rng, values, [=](const std::int32_t* word, std::size_t next) {
    // Three uniform numbers have deviation 1 together; one of them is fine enough for all.
    const std::int32_t halves = word[next];
    const auto coarse = static_cast<float>((halves >> 16) + static_cast<std::int16_t>(halves));
    return centre + spread * (static_cast<float>(*word) * 0x1p-31f + coarse * 0x1p-15f);
  });
}

}  // namespace gauntlet::kit
