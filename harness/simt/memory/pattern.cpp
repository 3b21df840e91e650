// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/memory/pattern.h"

#include <algorithm>
#include <bit>

#include "harness/simt/memory/vector_clones.h"

namespace gauntlet::simt {
namespace {

constexpr std::uint32_t kSectorBytes = 32;
constexpr std::int64_t kWidest = std::int64_t(1) << 40;
constexpr std::uint32_t kBanks = 32;
constexpr std::uint32_t kBankBytes = 4;

SIMT_VECTOR_CLONES bool same_offsets(const LaneAddresses& known, const LaneAddresses& addresses,
                                     std::uint64_t first) {
  std::uint64_t different = 0;
  for (std::uint32_t l = 0; l < kLanes; ++l) different |= (addresses[l] - first) ^ known[l];
  return different == 0;
}

bool same_offsets(const Pattern& pattern, const LaneAddresses& addresses, std::uint64_t first) {
  if (pattern.mask == kAllLanes) return same_offsets(pattern.offsets, addresses, first);
  for (std::uint32_t left = pattern.mask; left != 0; left &= left - 1) {
    const auto l = static_cast<std::uint32_t>(std::countr_zero(left));
    if (addresses[l] - first != pattern.offsets[l]) return false;
  }
  return true;
}

/// Distinct blocks of `size` bytes that the lanes touch; offsets count from a block's beginning.
std::uint32_t distinct_blocks(const Pattern& pattern, std::uint64_t low, std::uint32_t lane_bytes,
                              std::uint32_t size) {
  std::array<std::uint64_t, std::size_t{kLanes} * 2> seen{};
  std::size_t count = 0;
  for (std::uint32_t left = pattern.mask; left != 0; left &= left - 1) {
    const std::uint64_t at = pattern.offsets[std::size_t(std::countr_zero(left))] + low;
    seen[count++] = at / size;
    seen[count++] = (at + lane_bytes - 1) / size;  // a lane has 32 bytes at the most
  }
  std::sort(seen.begin(), seen.begin() + std::ptrdiff_t(count));
  return static_cast<std::uint32_t>(
      std::unique(seen.begin(), seen.begin() + std::ptrdiff_t(count)) - seen.begin());
}

struct Passes {
  std::uint32_t taken = 0, least = 0;
};

/// One pass serves each bank once, with one word that any number of lanes may want. Lanes of 8
/// bytes are served by half warps and lanes of 16 bytes by quarters, as the hardware does.
Passes passes(const Pattern& pattern, std::uint64_t low, std::uint32_t lane_bytes) {
  const std::uint32_t group = lane_bytes <= 4 ? 32 : lane_bytes == 8 ? 16 : 8;
  Passes all;
  for (std::uint32_t begin = 0; begin < kLanes; begin += group) {
    std::array<std::uint64_t, std::size_t{kLanes} * 8> words{};
    std::size_t count = 0;
    for (std::uint32_t l = begin; l < begin + group; ++l) {
      if ((pattern.mask >> l & 1u) == 0) continue;
      const std::uint64_t at = pattern.offsets[l] + low;
      for (std::uint64_t word = at / kBankBytes; word <= (at + lane_bytes - 1) / kBankBytes; ++word)
        if (count < words.size()) words[count++] = word;
    }
    std::sort(words.begin(), words.begin() + std::ptrdiff_t(count));
    const auto end = std::unique(words.begin(), words.begin() + std::ptrdiff_t(count));
    std::array<std::uint32_t, kBanks> wanted{};
    for (auto word = words.begin(); word != end; ++word) ++wanted[*word % kBanks];
    const auto distinct = static_cast<std::uint32_t>(end - words.begin());
    all.taken += *std::max_element(wanted.begin(), wanted.end());
    all.least += (distinct + kBanks - 1) / kBanks;
  }
  return all;
}

}  // namespace

void update(Pattern& pattern, const LaneAddresses& addresses, std::uint32_t mask,
            std::uint32_t lane_bytes) {
  const auto first_lane = std::size_t(std::countr_zero(mask));
  const std::uint64_t first = addresses[first_lane];
  const std::uint64_t phase = first % Pattern::kPhase;
  if (pattern.mask == mask && pattern.phase == phase && same_offsets(pattern, addresses, first))
    return;

  pattern.mask = mask;
  pattern.phase = phase;
  std::int64_t low = 0, high = 0;
  bool consecutive = mask == kAllLanes;
  bool aligned = true;
  for (std::uint32_t l = 0; l < kLanes; ++l) {
    const bool takes_part = (mask >> l & 1u) != 0;
    pattern.offsets[l] = takes_part ? addresses[l] - first : 0;
    const auto offset = static_cast<std::int64_t>(pattern.offsets[l]);
    low = std::min(low, offset);
    high = std::max(high, offset);
    consecutive = consecutive && pattern.offsets[l] == std::uint64_t(l) * lane_bytes;
    // A vector of 3 does not exist; 2 and 4 elements are aligned as a whole.
    aligned = aligned && (!takes_part || addresses[l] % lane_bytes == 0);
  }
  pattern.low = static_cast<std::uint64_t>(low);
  pattern.span = static_cast<std::uint64_t>(high) - pattern.low + lane_bytes;
  pattern.uniform = low == 0 && high == 0;
  pattern.consecutive = consecutive;
  pattern.aligned = aligned;
  pattern.orderly = high < kWidest && low > -kWidest;
  pattern.sectors = pattern.wavefronts = pattern.least_wavefronts = 0;
  if (!pattern.orderly) return;
  // Counted from a place below the lowest address that has the phase of the first.
  const std::uint64_t base =
      phase + (0 - pattern.low + Pattern::kPhase - 1) / Pattern::kPhase * Pattern::kPhase;
  pattern.sectors = distinct_blocks(pattern, base, lane_bytes, kSectorBytes);
  const Passes made = passes(pattern, base, lane_bytes);
  pattern.wavefronts = made.taken;
  pattern.least_wavefronts = made.least;
}

}  // namespace gauntlet::simt
