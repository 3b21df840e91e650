// SPDX-License-Identifier: Apache-2.0
#include "ngrams.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// Up to three tokens as one number, the last one lowest. Ids are shifted by one, so that n-grams
/// of different lengths differ.
std::uint64_t key_of(std::span<const std::uint16_t> tokens) {
  std::uint64_t key = 0;
  for (const std::uint16_t token : tokens) key = key << 20 | (token + 1u);
  return key;
}

std::uint64_t context_of(std::uint64_t ngram) {
  return ngram >> 20;
}
std::uint64_t without_first(std::uint64_t ngram, std::size_t length) {
  return ngram & ((std::uint64_t{1} << (20 * (length - 1))) - 1);
}

}  // namespace

void KneserNey::Level::settle() {
  std::int64_t once = 0;
  std::int64_t twice = 0;
  for (const auto& [ngram, times] : count) {
    once += times == 1;
    twice += times == 2;
    Context& before = context[context_of(ngram)];
    before.total += times;
    ++before.kinds;
  }
  // Without n-grams that occur once or twice the estimate is 0 or 0 / 0; any share will do.
  discount = once > 0 ? static_cast<double>(once) / static_cast<double>(once + 2 * twice) : 0.5;
}

KneserNey::KneserNey(std::span<const Text> texts, std::int64_t vocab, int order)
    : vocab_(vocab), levels_(static_cast<std::size_t>(order)) {
  const auto longest = static_cast<std::size_t>(order);
  for (const Text& text : texts)
    for (std::size_t end = longest; end <= text.size(); ++end)
      ++levels_.back().count[key_of(std::span(text).subspan(end - longest, longest))];
  // A shorter n-gram counts once for every different token before it.
  for (std::size_t length = longest; length > 1; --length)
    for (const auto& [ngram, times] : levels_[length - 1].count)
      ++levels_[length - 2].count[without_first(ngram, length)];
  for (Level& level : levels_) level.settle();
}

double KneserNey::probability(std::span<const std::uint16_t> context, std::uint16_t token) const {
  double probability = 1 / static_cast<double>(vocab_);
  const std::size_t longest = std::min(context.size(), levels_.size() - 1);
  for (std::size_t length = 0; length <= longest; ++length) {
    const Level& level = levels_[length];
    const std::uint64_t before = key_of(context.last(length));
    const auto known = level.context.find(before);
    if (known == level.context.end()) break;
    const auto count = level.count.find(before << 20 | (token + 1u));
    const double times = count == level.count.end() ? 0 : static_cast<double>(count->second);
    const auto total = static_cast<double>(known->second.total);
    const auto kinds = static_cast<double>(known->second.kinds);
    probability =
        (std::max(times - level.discount, 0.0) + level.discount * kinds * probability) / total;
  }
  return probability;
}

Likelihood KneserNey::likelihood(std::span<const Text> texts) const {
  Likelihood likelihood;
  for (const Text& text : texts)
    for (std::size_t i = 1; i < text.size(); ++i) {
      likelihood.total -= std::log(probability(std::span(text).first(i), text[i]));
      ++likelihood.predictions;
    }
  return likelihood;
}

Likelihood unigram_likelihood(std::span<const Text> training, std::span<const Text> texts,
                              std::int64_t vocab) {
  std::vector<double> count(static_cast<std::size_t>(vocab), 1);
  double total = static_cast<double>(vocab);
  for (const Text& text : training)
    for (const std::uint16_t token : text) {
      ++count[token];
      ++total;
    }
  Likelihood likelihood;
  for (const Text& text : texts)
    for (std::size_t i = 1; i < text.size(); ++i) {
      likelihood.total -= std::log(count[text[i]] / total);
      ++likelihood.predictions;
    }
  return likelihood;
}

double empirical_entropy(const Text& text) {
  std::map<std::uint16_t, double> count;
  for (const std::uint16_t token : text) ++count[token];
  double entropy = 0;
  for (const auto& [token, times] : count) {
    const double share = times / static_cast<double>(text.size());
    entropy -= share * std::log(share);
  }
  return entropy;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
