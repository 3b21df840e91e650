#include "harness/core/xxh64.h"

#include <bit>
#include <cstring>

namespace gauntlet {
namespace {

static_assert(std::endian::native == std::endian::little, "the lanes are read in memory order");

constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87;
constexpr std::uint64_t kPrime2 = 0xC2B2AE3D27D4EB4F;
constexpr std::uint64_t kPrime3 = 0x165667B19E3779F9;
constexpr std::uint64_t kPrime4 = 0x85EBCA77C2B2AE63;
constexpr std::uint64_t kPrime5 = 0x27D4EB2F165667C5;
constexpr std::size_t kStripe = 32;

template <class T>
std::uint64_t take(const std::byte*& at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  at += sizeof value;
  return value;
}

std::uint64_t round(std::uint64_t sum, std::uint64_t lane) {
  return std::rotl(sum + lane * kPrime2, 31) * kPrime1;
}

/// Whole stripes, in four sums that do not wait for each other. Leaves `at` behind the last one.
std::uint64_t whole_stripes(const std::byte*& at, const std::byte* end, std::uint64_t seed) {
  std::uint64_t sums[4]{seed + kPrime1 + kPrime2, seed + kPrime2, seed, seed - kPrime1};
  for (; at + kStripe <= end;)
    for (std::uint64_t& sum : sums) sum = round(sum, take<std::uint64_t>(at));
  std::uint64_t hash = std::rotl(sums[0], 1) + std::rotl(sums[1], 7) + std::rotl(sums[2], 12) +
                       std::rotl(sums[3], 18);
  for (const std::uint64_t sum : sums) hash = (hash ^ round(0, sum)) * kPrime1 + kPrime4;
  return hash;
}

std::uint64_t avalanche(std::uint64_t hash) {
  hash = (hash ^ (hash >> 33)) * kPrime2;
  hash = (hash ^ (hash >> 29)) * kPrime3;
  return hash ^ (hash >> 32);
}

}  // namespace

std::uint64_t xxh64(std::span<const std::byte> bytes, std::uint64_t seed) {
  const std::byte* at = bytes.data();
  const std::byte* const end = at + bytes.size();
  std::uint64_t hash = bytes.size() >= kStripe ? whole_stripes(at, end, seed) : seed + kPrime5;
  hash += bytes.size();
  for (; at + 8 <= end;)
    hash = std::rotl(hash ^ round(0, take<std::uint64_t>(at)), 27) * kPrime1 + kPrime4;
  if (at + 4 <= end)
    hash = std::rotl(hash ^ (take<std::uint32_t>(at) * kPrime1), 23) * kPrime2 + kPrime3;
  for (; at < end;) hash = std::rotl(hash ^ (take<std::uint8_t>(at) * kPrime5), 11) * kPrime1;
  return avalanche(hash);
}

}  // namespace gauntlet
