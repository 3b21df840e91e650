// SPDX-License-Identifier: Apache-2.0
#include "tokenizer.h"

#include <algorithm>
#include <map>
#include <optional>

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using Tokens = std::vector<std::uint16_t>;

constexpr int kBytes = 256;

bool is_letter(unsigned char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte >= 128;
}
bool is_digit(unsigned char byte) {
  return byte >= '0' && byte <= '9';
}

/// Puts `into` wherever the pair stands, from the left.
void join(Tokens& tokens, std::pair<std::uint16_t, std::uint16_t> pair, std::uint16_t into) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool here =
        i + 1 < tokens.size() && tokens[i] == pair.first && tokens[i + 1] == pair.second;
    tokens[kept++] = here ? into : tokens[i];
    if (here) ++i;
  }
  tokens.resize(kept);
}

Tokens bytes_of_word(std::string_view word) {
  Tokens tokens;
  for (const char byte : word) tokens.push_back(static_cast<unsigned char>(byte));
  return tokens;
}

}  // namespace

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin;
    if (text[end] == ' ' && end + 1 < text.size()) ++end;
    const auto byte = static_cast<unsigned char>(text[end++]);
    const auto goes_on = is_letter(byte) ? is_letter : is_digit;
    if (is_letter(byte) || is_digit(byte))
      while (end < text.size() && goes_on(static_cast<unsigned char>(text[end]))) ++end;
    words.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

Tokenizer::Tokenizer(std::span<const std::string> texts, std::int64_t vocab) {
  for (int byte = 0; byte < kBytes; ++byte) bytes_.emplace_back(1, static_cast<char>(byte));
  std::map<std::string_view, std::int64_t> counts;
  for (const std::string& text : texts)
    for (const std::string_view word : words_of(text)) ++counts[word];
  std::vector<std::pair<Tokens, std::int64_t>> words;
  for (const auto& [word, count] : counts) words.emplace_back(bytes_of_word(word), count);

  while (std::ssize(bytes_) < vocab) {
    std::unordered_map<Pair, std::int64_t, PairHash> pairs;
    for (const auto& [tokens, count] : words)
      for (std::size_t i = 0; i + 1 < tokens.size(); ++i)
        pairs[{tokens[i], tokens[i + 1]}] += count;
    std::optional<std::pair<std::int64_t, Pair>> best;  // (-count, pair): the smallest wins
    for (const auto& [pair, count] : pairs)
      if (const std::pair candidate{-count, pair}; !best || candidate < *best) best = candidate;
    const auto id = static_cast<std::uint16_t>(bytes_.size());
    if (!best) {  // every word is one token: ids that never occur fill the vocabulary
      bytes_.emplace_back();
      continue;
    }
    const Pair pair = best->second;
    bytes_.push_back(bytes_[pair.first] + bytes_[pair.second]);
    joined_[pair] = id;
    for (auto& [tokens, count] : words) join(tokens, pair, id);
  }
}

Tokens Tokenizer::encode_word(std::string_view word) const {
  Tokens tokens = bytes_of_word(word);
  while (true) {  // the pair that was learnt first is joined first
    std::optional<std::pair<std::uint16_t, Pair>> first;
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i)
      if (const auto known = joined_.find({tokens[i], tokens[i + 1]}); known != joined_.end())
        if (!first || known->second < first->first) first = {known->second, known->first};
    if (!first) return tokens;
    join(tokens, first->second, first->first);
  }
}

Tokens Tokenizer::encode(std::string_view text) const {
  std::unordered_map<std::string_view, Tokens> known;
  Tokens tokens;
  for (const std::string_view word : words_of(text)) {
    const auto [entry, is_new] = known.try_emplace(word);
    if (is_new) entry->second = encode_word(word);
    tokens.insert(tokens.end(), entry->second.begin(), entry->second.end());
  }
  return tokens;
}

std::string Tokenizer::decode(std::span<const std::uint16_t> tokens) const {
  std::string text;
  for (const std::uint16_t token : tokens) text += bytes_.at(token);
  return text;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
