// SPDX-License-Identifier: Apache-2.0
#include "harness/core/rng.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <openssl/evp.h>
#include <stdexcept>
#include <sys/random.h>

#include "harness/core/error.h"

namespace gauntlet {
namespace {

constexpr std::size_t kBlock = 64;  // bytes of ChaCha20

// Most streams give a few numbers, some give millions: buffers grow.
constexpr std::size_t kFirstWords = 32;
constexpr std::size_t kMostWords = 512;

/// Of one thread, because making one costs more than most streams are long.
EVP_CIPHER_CTX* cipher() {
  struct Free {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
  };
  thread_local const std::unique_ptr<EVP_CIPHER_CTX, Free> context(EVP_CIPHER_CTX_new());
  thread_local const bool ready =
      context && EVP_EncryptInit_ex(context.get(), EVP_chacha20(), nullptr, nullptr, nullptr) == 1;
  if (!ready) throw Broken(OwnFault::crypto, "OpenSSL has no ChaCha20");
  return context.get();
}

/// The keystream from a block on.
void write_stream(const Seed& key, std::uint64_t block, std::span<std::byte> bytes) {
  constexpr std::size_t kStretch = 1 << 24;  // OpenSSL counts in int
  EVP_CIPHER_CTX* context = cipher();
  for (std::size_t at = 0; at < bytes.size(); at += kStretch) {
    std::uint8_t place[16] = {};  // block number, little-endian, and the nonce
    for (std::size_t i = 0; i < sizeof block; ++i)
      place[i] = static_cast<std::uint8_t>((block + at / kBlock) >> (8 * i));
    const auto part = bytes.subspan(at, std::min(kStretch, bytes.size() - at));
    auto* data = reinterpret_cast<unsigned char*>(part.data());
    std::ranges::fill(part, std::byte{0});
    int written = 0;
    if (EVP_EncryptInit_ex(context, nullptr, nullptr, key.bytes().data(), place) != 1 ||
        EVP_EncryptUpdate(context, data, &written, data, static_cast<int>(part.size())) != 1)
      throw Broken(OwnFault::crypto, "OpenSSL cannot compute ChaCha20");
  }
}

}  // namespace

std::uint64_t entropy() {
  std::uint64_t value = 0;
  if (getrandom(&value, sizeof value, 0) != sizeof value)
    throw std::runtime_error("the kernel gives no random numbers (getrandom failed)");
  return value;
}

void Rng::draw() {
  drawn_.resize(std::clamp(4 * drawn_.size(), kFirstWords, kMostWords));
  next_ = 0;
  fill(std::as_writable_bytes(std::span(drawn_)));
}

void Rng::fill(std::span<std::byte> bytes) {
  write_stream(key_, block_, bytes);
  block_ += (bytes.size() + kBlock - 1) / kBlock;
}

Seed Rng::seed() {
  Seed::Bytes bytes{};
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(result_type)) {
    const result_type word = (*this)();
    for (std::size_t k = 0; k < sizeof word; ++k)
      bytes[i + k] = static_cast<std::uint8_t>(word >> (8 * k));
  }
  return Seed(bytes);
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
