// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "harness/core/rng.h"
#include "likelihood.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// A source whose entropy is known: every token depends on the two before it, by a table of random
/// distributions. No model of any kind can predict it better than the table.
class MarkovSource {
 public:
  /// Distributions from a symmetric Dirichlet; the smaller the concentration, the more they favour
  /// a few tokens.
  MarkovSource(Rng& rng, std::int64_t symbols, double concentration);

  Text draw(Rng& rng, std::int64_t length) const;

  /// Nats a token in the long run: the entropy of the rows, weighted by how often the chain of
  /// pairs visits each.
  double entropy_rate() const;

  /// What the source itself says about a text, from its third token on; the two before are given.
  Likelihood likelihood(std::span<const Text> texts) const;

 private:
  std::size_t row(std::int64_t before, std::int64_t last) const {
    return static_cast<std::size_t>((before * symbols_ + last) * symbols_);
  }

  std::int64_t symbols_;
  std::vector<double> probability_;  // [before][last][next]
};

}  // namespace gauntlet::GAUNTLET_CHALLENGE
