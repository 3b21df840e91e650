#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace gauntlet {

/// Derives an independent seed for a named stream, so that adding a case never changes another's
/// data. FNV-1a over the name, finished with the splitmix64 mixer.
std::uint64_t derive_seed(std::uint64_t seed, std::string_view stream);

/// Fresh entropy from the kernel, for seeds that no submission may guess.
std::uint64_t entropy();

/// xoshiro256** (Blackman and Vigna 2018). The same seed gives the same numbers with every
/// compiler and standard library, which std:: distributions do not promise.
class Rng {
 public:
  using result_type = std::uint64_t;

  explicit Rng(std::uint64_t seed);

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
  result_type operator()();

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
  std::uint64_t state_[4];
  double spare_normal_ = 0;
  bool has_spare_ = false;
};

}  // namespace gauntlet
