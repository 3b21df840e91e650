// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "likelihood.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Interpolated Kneser-Ney smoothing with one discount an order, n1 / (n1 + 2 n2) (Kneser and Ney
/// 1995; Chen and Goodman 1999): what counting words can reach on a text, the yardstick for a
/// perplexity. Orders 2 and 3; the lowest is interpolated with a uniform distribution, so that
/// every token has a probability.
class KneserNey {
 public:
  KneserNey(std::span<const Text> texts, std::int64_t vocab, int order);

  /// P(token | context); of the context the last order - 1 tokens count, fewer at a text's start.
  double probability(std::span<const std::uint16_t> context, std::uint16_t token) const;

  /// Of the predictions that LIKELIHOOD asks for: every token of a text but its first.
  Likelihood likelihood(std::span<const Text> texts) const;

 private:
  /// Counts of n-grams, and of what follows each context.
  struct Level {
    std::unordered_map<std::uint64_t, std::int64_t> count;  // n-gram -> times
    struct Context {
      std::int64_t total = 0;  // times
      std::int64_t kinds = 0;  // different followers
    };
    std::unordered_map<std::uint64_t, Context> context;
    double discount = 0;

    void settle();  // contexts and discount from the counts
  };

  std::int64_t vocab_;
  std::vector<Level> levels_;  // levels_[n - 1]: n-grams
};

/// Counts with one added to each.
Likelihood unigram_likelihood(std::span<const Text> training, std::span<const Text> texts,
                              std::int64_t vocab);

/// Nats a token of a text by counting its own tokens.
double empirical_entropy(const Text& text);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
