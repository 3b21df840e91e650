// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "harness/core/seed.h"

namespace gauntlet {

/// Fresh entropy from the kernel.
std::uint64_t entropy();

/// The keystream of ChaCha20 (RFC 8439) with the seed as its key and a nonce of zeros, as
/// little-endian words. The same seed gives the same numbers with every compiler and standard
/// library, which std:: distributions do not promise; and numbers that somebody has seen tell them
/// nothing of the others, which no generator promises that is made for speed alone.
class Rng {
 public:
  using result_type = std::uint64_t;

  explicit Rng(const Seed& seed) : key_(seed) {}
  Rng(Rng&&) = default;  // never copied: two hands with one stream would draw the same numbers,
  Rng& operator=(Rng&&) = default;  // and who sees those of one would know those of the other

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
  result_type operator()() {
    if (next_ >= drawn_.size()) draw();
    return drawn_[next_++];
  }

  /// Whole blocks of the stream, from the first that nothing was drawn of yet: 20 times faster than
  /// number by number.
  void fill(std::span<std::byte> bytes);

  /// A secret of its own, for another stream.
  Seed seed();

  double uniform();                                           // [0, 1)
  double uniform(double low, double high);                    // [low, high)
  double normal();                                            // mean 0, deviation 1
  std::int64_t integer(std::int64_t low, std::int64_t high);  // low..high, both included
  bool chance(double probability) { return uniform() < probability; }

  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1], items[static_cast<std::size_t>(integer(0, std::int64_t(i) - 1))]);
  }

 private:
  void draw();

  Seed key_;
  std::uint64_t block_ = 0;  // the first that nothing was drawn of
  std::vector<std::uint64_t> drawn_;
  std::size_t next_ = 0;
  double spare_normal_ = 0;
  bool has_spare_ = false;
};

}  // namespace gauntlet
