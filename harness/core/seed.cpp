// SPDX-License-Identifier: Apache-2.0
#include "harness/core/seed.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <stdexcept>
#include <sys/random.h>

#include "harness/core/digest.h"

namespace gauntlet {
namespace {

constexpr std::string_view kDomain = "gauntlet.seed/1";
constexpr std::size_t kShortestText = 16;

void append_number(std::string& bytes, std::uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xff);
}

std::optional<Seed> parse_hex(std::string_view digits) {
  if (digits.empty() || digits.size() > 2 * Seed::kBytes) return std::nullopt;
  const std::string padded =
      std::string(2 * Seed::kBytes - digits.size(), '0') + std::string(digits);
  Seed::Bytes bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char* begin = padded.data() + 2 * i;
    const auto parsed = std::from_chars(begin, begin + 2, bytes[i], 16);
    if (parsed.ec != std::errc() || parsed.ptr != begin + 2) return std::nullopt;
  }
  return Seed(bytes);
}

}  // namespace

Seed::Seed(std::uint64_t number) {
  for (std::size_t i = 0; i < sizeof number; ++i)
    bytes_[kBytes - 1 - i] = static_cast<std::uint8_t>(number >> (8 * i));
}

Seed Seed::fresh() {
  Seed seed;
  if (getrandom(seed.bytes_.data(), kBytes, 0) != static_cast<ssize_t>(kBytes))
    throw std::runtime_error("the kernel gives no random numbers (getrandom failed)");
  return seed;
}

std::optional<Seed> Seed::parse(std::string_view word) {
  if (word.starts_with("0x") || word.starts_with("0X")) return parse_hex(word.substr(2));
  std::uint64_t number = 0;
  const char* end = word.data() + word.size();
  const auto parsed = std::from_chars(word.data(), end, number);
  if (word.empty() || parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return Seed(number);
}

std::string Seed::text() const {
  std::string digits;
  for (const std::uint8_t byte : bytes_) digits += fmt::format("{:02x}", byte);
  const std::size_t zeros = std::min(digits.find_first_not_of('0'), digits.size() - kShortestText);
  return "0x" + digits.substr(zeros);
}

Seed operator+(const Seed& seed, std::uint64_t number) {
  Seed::Bytes sum = seed.bytes();
  for (std::size_t i = sum.size(); i-- > 0 && number > 0;) {
    const std::uint64_t digit = sum[i] + (number & 0xff);
    sum[i] = static_cast<std::uint8_t>(digit);
    number = (number >> 8) + (digit >> 8);
  }
  return Seed(sum);
}

Seed derive(const Seed& seed, std::string_view name) {
  std::string bytes(kDomain);
  bytes.append(reinterpret_cast<const char*>(seed.bytes().data()), Seed::kBytes);
  append_number(bytes, name.size());
  bytes.append(name);
  return Seed(sha256_bytes(bytes));
}

}  // namespace gauntlet
