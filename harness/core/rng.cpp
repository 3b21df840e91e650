#include "harness/core/rng.h"

#include <bit>
#include <cmath>
#include <stdexcept>
#include <sys/random.h>

namespace gauntlet {
namespace {

std::uint64_t splitmix(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

std::uint64_t derive_seed(std::uint64_t seed, std::string_view stream) {
  std::uint64_t hash = 0xcbf29ce484222325 ^ seed;
  for (const unsigned char c : stream) hash = (hash ^ c) * 0x100000001b3;
  return splitmix(hash);
}

std::uint64_t entropy() {
  std::uint64_t value = 0;
  if (getrandom(&value, sizeof value, 0) != sizeof value)
    throw std::runtime_error("the kernel gives no random numbers (getrandom failed)");
  return value;
}

Rng::Rng(std::uint64_t seed) {
  for (auto& word : state_) word = splitmix(seed);
}

Rng::result_type Rng::operator()() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Rng::uniform() {
  return static_cast<double>((*this)() >> 11) * 0x1p-53;
}

double Rng::uniform(double low, double high) {
  return low + (high - low) * uniform();
}

// Marsaglia's polar method: exact to rounding, and free of library-dependent tables.
double Rng::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_normal_;
  }
  double u = 0;
  double v = 0;
  double s = 0;
  do {
    u = uniform(-1, 1);
    v = uniform(-1, 1);
    s = u * u + v * v;
  } while (s >= 1 || s == 0);
  const double scale = std::sqrt(-2 * std::log(s) / s);
  spare_normal_ = v * scale;
  has_spare_ = true;
  return u * scale;
}

std::int64_t Rng::integer(std::int64_t low, std::int64_t high) {
  if (low > high) throw std::invalid_argument("Rng::integer: empty range");
  const auto span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  if (span == 0) return static_cast<std::int64_t>((*this)());
  const std::uint64_t fair = max() - max() % span;  // multiples of span: no modulo bias
  std::uint64_t draw = 0;
  do draw = (*this)();
  while (draw >= fair);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + draw % span);
}

}  // namespace gauntlet
