// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Byte-pair encoding over bytes (Sennrich et al. 2016, as GPT-2 uses it): ids 0..255 are the
/// bytes, every further one joins two others. Pairs are joined inside words; a word is a run of
/// letters, a run of digits or a single other byte, with the space before it.
class Tokenizer {
 public:
  /// Learns `vocab` - 256 joins, the most frequent pair first, ties to the smaller pair of ids.
  Tokenizer(std::span<const std::string> texts, std::int64_t vocab);

  std::vector<std::uint16_t> encode(std::string_view text) const;
  std::string decode(std::span<const std::uint16_t> tokens) const;

  std::int64_t vocab() const { return std::ssize(bytes_); }

 private:
  using Pair = std::pair<std::uint16_t, std::uint16_t>;
  struct PairHash {
    std::size_t operator()(const Pair& pair) const { return pair.first * 65536u + pair.second; }
  };

  std::vector<std::uint16_t> encode_word(std::string_view word) const;

  std::vector<std::string> bytes_;  // of every id
  std::unordered_map<Pair, std::uint16_t, PairHash> joined_;
};

/// Cuts a text into the words that a Tokenizer works on.
std::vector<std::string_view> words_of(std::string_view text);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
