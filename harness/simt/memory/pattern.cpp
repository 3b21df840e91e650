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

/// All bits of a lane that takes part, none of another.
std::uint64_t all_or_nothing(std::uint32_t mask, std::uint32_t lane) {
  return 0 - std::uint64_t(mask >> lane & 1u);
}

SIMT_VECTOR_CLONES bool same_offsets(const LaneAddresses& known, const LaneAddresses& addresses,
                                     std::uint32_t mask, std::uint64_t first) {
  std::uint64_t different = 0;
  for (std::uint32_t l = 0; l < kLanes; ++l)
    different |= ((addresses[l] - first) ^ known[l]) & all_or_nothing(mask, l);
  return different == 0;
}

struct Extent {
  std::int64_t low = 0, high = 0;  // of the offsets
  std::uint64_t uneven = 0;        // bits of addresses that alignment wants to be zero
  std::uint64_t out_of_line = 0;   // not zero unless the lanes lie one behind the other
};

SIMT_VECTOR_CLONES Extent measure(LaneAddresses& offsets, const LaneAddresses& addresses,
                                  std::uint32_t mask, std::uint64_t first,
                                  std::uint32_t lane_bytes) {
  Extent extent;
  for (std::uint32_t l = 0; l < kLanes; ++l) {
    const std::uint64_t offset = (addresses[l] - first) & all_or_nothing(mask, l);
    offsets[l] = offset;
    const auto at = static_cast<std::int64_t>(offset);
    extent.low = at < extent.low ? at : extent.low;
    extent.high = at > extent.high ? at : extent.high;
    extent.uneven |= addresses[l] & all_or_nothing(mask, l) & (lane_bytes - 1);
    extent.out_of_line |= offset ^ (std::uint64_t(l) * lane_bytes);
  }
  return extent;
}

/// Units of memory that are told apart by their numbers, all of them near the first.
class UnitSet {
 public:
  static constexpr std::uint64_t kMost = 1024;

  void add(std::uint64_t unit) { words_[unit / 64] |= std::uint64_t(1) << unit % 64; }
  std::uint32_t count() const {
    int units = 0;
    for (const std::uint64_t word : words_) units += std::popcount(word);
    return static_cast<std::uint32_t>(units);
  }

 private:
  std::array<std::uint64_t, kMost / 64> words_{};
};

/// Calls with the first and the last unit of each lane of `lanes`, which for units of 32 bytes are
/// all that it touches; offsets count from `base`.
template <class Visit>
void each_lane(const Pattern& pattern, std::uint32_t lanes, std::uint64_t base,
               std::uint32_t lane_bytes, std::uint32_t unit, const Visit& visit) {
  for (std::uint32_t left = pattern.mask & lanes; left != 0; left &= left - 1) {
    const std::uint64_t at = pattern.offsets[std::size_t(std::countr_zero(left))] + base;
    visit(at / unit, (at + lane_bytes - 1) / unit);
  }
}

/// What to add to offsets so that they count from a place below the lowest that has the phase of
/// the first.
std::uint64_t base_of(const Pattern& pattern) {
  return pattern.phase +
         (0 - pattern.low + Pattern::kPhase - 1) / Pattern::kPhase * Pattern::kPhase;
}

/// Lanes far apart.
std::uint32_t count_by_sorting(const Pattern& pattern, std::uint64_t base,
                               std::uint32_t lane_bytes) {
  std::array<std::uint64_t, std::size_t{kLanes} * 2> seen;
  std::size_t count = 0;
  each_lane(pattern, kAllLanes, base, lane_bytes, kSectorBytes, [&](auto from, auto to) {
    seen[count++] = from;
    seen[count++] = to;
  });
  std::sort(seen.begin(), seen.begin() + std::ptrdiff_t(count));
  return static_cast<std::uint32_t>(
      std::unique(seen.begin(), seen.begin() + std::ptrdiff_t(count)) - seen.begin());
}

struct BankWords {
  std::uint32_t distinct = 0, most = 0;  // words, of all banks and of the busiest one
};

/// Of bit sets, one for each bank.
SIMT_VECTOR_CLONES BankWords count_words(const std::array<std::uint64_t, kBanks>& rows) {
  BankWords counted;
  for (const std::uint64_t wanted : rows) {
    const auto words = static_cast<std::uint32_t>(std::popcount(wanted));
    counted.distinct += words;
    counted.most = words > counted.most ? words : counted.most;
  }
  return counted;
}

/// One pass serves each bank once, with one word that any number of lanes may want.
Passes passes_of_group(const Pattern& pattern, std::uint32_t lanes, std::uint64_t base,
                       std::uint32_t lane_bytes) {
  // Rows of 32 words that each bank is asked for, as far as the first 64 rows hold them all.
  constexpr std::uint32_t kRows = 64;
  const std::uint64_t last_word = (base + pattern.low + pattern.span - 1) / kBankBytes;
  Passes made;
  std::uint32_t distinct = 0;
  if (last_word < std::uint64_t(kRows) * kBanks) {
    std::array<std::uint64_t, kBanks> rows{};
    each_lane(pattern, lanes, base, lane_bytes, kBankBytes, [&](auto word, auto last) {
      for (; word <= last; ++word) rows[word % kBanks] |= std::uint64_t(1) << word / kBanks;
    });
    const BankWords counted = count_words(rows);
    distinct = counted.distinct;
    made.taken = counted.most;
  } else {
    std::array<std::uint64_t, std::size_t{kLanes} * 8> words;
    std::size_t count = 0;
    each_lane(pattern, lanes, base, lane_bytes, kBankBytes, [&](auto word, auto last) {
      for (; word <= last; ++word) words[count++] = word;
    });
    std::sort(words.begin(), words.begin() + std::ptrdiff_t(count));
    const auto end = std::unique(words.begin(), words.begin() + std::ptrdiff_t(count));
    std::array<std::uint32_t, kBanks> wanted{};
    for (auto word = words.begin(); word != end; ++word) ++wanted[*word % kBanks];
    distinct = static_cast<std::uint32_t>(end - words.begin());
    made.taken = *std::max_element(wanted.begin(), wanted.end());
  }
  made.least = (distinct + kBanks - 1) / kBanks;
  return made;
}

}  // namespace

void update(Pattern& pattern, const LaneAddresses& addresses, std::uint32_t mask,
            std::uint32_t lane_bytes) {
  const std::uint64_t first = addresses[std::size_t(std::countr_zero(mask))];
  const std::uint64_t phase = first % Pattern::kPhase;
  if (pattern.mask == mask && pattern.phase == phase &&
      same_offsets(pattern.offsets, addresses, mask, first))
    return;

  pattern.mask = mask;
  pattern.phase = phase;
  const Extent extent = measure(pattern.offsets, addresses, mask, first, lane_bytes);
  pattern.low = static_cast<std::uint64_t>(extent.low);
  pattern.span = static_cast<std::uint64_t>(extent.high) - pattern.low + lane_bytes;
  pattern.uniform = extent.low == 0 && extent.high == 0;
  pattern.consecutive = mask == kAllLanes && extent.out_of_line == 0;
  // A vector of 3 does not exist; 2 and 4 elements are aligned as a whole.
  pattern.aligned = extent.uneven == 0;
  pattern.orderly = extent.high < kWidest && extent.low > -kWidest;
  pattern.sectors = pattern.wavefronts = pattern.least_wavefronts = 0;
}

std::uint32_t sectors_of(Pattern& pattern, std::uint32_t lane_bytes) {
  if (pattern.sectors != 0) return pattern.sectors;
  const std::uint64_t base = base_of(pattern);
  const std::uint64_t lowest = (base + pattern.low) / kSectorBytes;
  const std::uint64_t highest = (base + pattern.low + pattern.span - 1) / kSectorBytes;
  if (pattern.consecutive || pattern.uniform)
    return pattern.sectors = std::uint32_t(highest - lowest + 1);
  if (highest - lowest >= UnitSet::kMost)
    return pattern.sectors = count_by_sorting(pattern, base, lane_bytes);
  UnitSet touched;
  each_lane(pattern, kAllLanes, base, lane_bytes, kSectorBytes, [&](auto from, auto to) {
    touched.add(from - lowest);
    touched.add(to - lowest);
  });
  return pattern.sectors = touched.count();
}

/// Lanes of 8 bytes are served by half warps and lanes of 16 bytes by quarters, as the hardware
/// does.
Passes passes_of(Pattern& pattern, std::uint32_t lane_bytes) {
  if (pattern.wavefronts == 0) {
    const std::uint32_t group = lane_bytes <= 4 ? 32 : lane_bytes == 8 ? 16 : 8;
    const std::uint64_t base = base_of(pattern);
    for (std::uint32_t begin = 0; begin < kLanes; begin += group) {
      const std::uint32_t lanes = (kAllLanes >> (kLanes - group)) << begin;
      if ((lanes & pattern.mask) == 0) continue;
      const Passes made = passes_of_group(pattern, lanes, base, lane_bytes);
      pattern.wavefronts += made.taken;
      pattern.least_wavefronts += made.least;
    }
  }
  return {pattern.wavefronts, pattern.least_wavefronts};
}

}  // namespace gauntlet::simt
