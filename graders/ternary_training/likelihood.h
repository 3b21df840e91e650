// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "network.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

using Text = std::vector<std::uint16_t>;

/// Negative log likelihood in nats over a number of predictions.
struct Likelihood {
  double total = 0;
  std::int64_t predictions = 0;

  double mean() const { return total / static_cast<double>(predictions); }
  double perplexity() const;
};

/// The contract's LIKELIHOOD of texts: windows of `context` tokens, the last prediction of one is
/// the first token of the next. Texts of fewer than two tokens predict nothing.
Likelihood likelihood_of(const Network& network, std::span<const Text> texts, int threads);

/// The same for one text.
Likelihood likelihood_of(const Network& network, std::span<const std::uint16_t> text);

/// A likelihood on few tokens, for comparisons of networks on the same ones.
std::vector<Text> first_tokens(std::span<const Text> texts, std::size_t tokens);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
