// SPDX-License-Identifier: Apache-2.0
// The oracle against an implementation that others wrote and use.
#include <cmath>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "problem.h"

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

namespace {

struct Found {
  double score;
  std::vector<std::int32_t> tokens;
};

struct Published {
  std::uint64_t seed;
  std::int64_t beam;
  std::int64_t vocab;
  std::int64_t max_new;
  std::int64_t min_new;
  std::vector<std::int32_t> eos;
  double alpha;
  std::int32_t stop;
  std::vector<Found> best;
};

const std::vector<Published> kSearches{
#include "fixtures/transformers_fixture.h"
};

/// The script's language model: the logarithms of shares that sum to 1.
Language shares(std::uint64_t seed) {
  return [seed](const Context& at, std::span<float> row) {
    std::uint64_t state = mixed(seed, at.path);
    std::vector<double> counts;
    double sum = 0;
    for (std::size_t token = 0; token < row.size(); ++token) {
      state = mixed(state, 1);
      counts.push_back(static_cast<double>((state >> 20) % 1000003 + 1));
      sum += counts.back();
    }
    for (std::size_t token = 0; token < row.size(); ++token)
      row[token] = static_cast<float>(std::log(counts[token] / sum));
  };
}

Settings settings_of(const Published& one) {
  Settings settings;
  settings.beam = settings.n_return = one.beam;
  settings.vocab = one.vocab;
  settings.max_new = one.max_new;
  settings.min_new = one.min_new;
  settings.eos = one.eos;
  settings.alpha = one.alpha;
  settings.stop = one.stop;
  return settings;
}

}  // namespace

TEST_CASE("the separate policy ends as Hugging Face transformers does") {
  CHECK(kSearches.size() == 72);
  for (const Published& one : kSearches) {
    const Settings settings = settings_of(one);
    INFO(describe(settings));
    const Expected got = decode(settings, shares(one.seed), 0);
    REQUIRE(got.best.size() == one.best.size());
    for (std::size_t i = 0; i < got.best.size(); ++i) {
      CHECK(got.best[i].tokens == one.best[i].tokens);
      // Their sums are float32, over log-probs that were normalised once more.
      CHECK(std::abs(got.best[i].score - one.best[i].score) < 1e-5);
    }
  }
}
