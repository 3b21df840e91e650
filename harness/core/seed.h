// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gauntlet {

/// A secret of 256 bits, from which random numbers derive. Whoever sees those numbers learns
/// nothing of the secret, nor of what else derives from it.
class Seed {
 public:
  static constexpr std::size_t kBytes = 32;
  using Bytes = std::array<std::uint8_t, kBytes>;

  Seed() = default;  // 0
  Seed(std::uint64_t number);
  explicit Seed(const Bytes& big_endian) : bytes_(big_endian) {}

  /// From the kernel's entropy.
  static Seed fresh();

  /// "12345" or "0x3039", with up to 64 hexadecimal digits; nothing when it is anything else.
  static std::optional<Seed> parse(std::string_view word);

  /// "0x..." with 16 digits, as shorter seeds were always written, or as many as it takes.
  std::string text() const;

  /// The most significant byte comes first.
  const Bytes& bytes() const { return bytes_; }

  bool operator==(const Seed&) const = default;

 private:
  Bytes bytes_{};
};

/// `seed` plus a small number, so that one more run can be named in few digits.
Seed operator+(const Seed& seed, std::uint64_t number);

/// The secret of a named stream: adding a case never changes another's data, and no secret can be
/// found from another that derives from the same seed. SHA-256 over "gauntlet.seed/1", the 32 bytes
/// of the seed, the length of the name as 8 bytes, the most significant first, and the name.
Seed derive(const Seed& seed, std::string_view name);

}  // namespace gauntlet
