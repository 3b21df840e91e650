// SPDX-License-Identifier: Apache-2.0
#include "markov.h"

#include <cmath>

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// Gamma variate of a shape below 1 (Ahrens and Dieter 1974, algorithm GS).
double gamma_variate(Rng& rng, double shape) {
  const double b = 1 + shape / std::exp(1.0);
  while (true) {
    const double p = b * rng.uniform();
    if (p <= 1) {
      const double x = std::pow(p, 1 / shape);
      if (rng.uniform() <= std::exp(-x)) return x;
    } else {
      const double x = -std::log((b - p) / shape);
      if (rng.uniform() <= std::pow(x, shape - 1)) return x;
    }
  }
}

}  // namespace

// A little of everything is mixed in, so that the chain of pairs reaches all of them.
MarkovSource::MarkovSource(Rng& rng, std::int64_t symbols, double concentration)
    : symbols_(symbols) {
  constexpr double kFloor = 1e-3;
  for (std::int64_t pair = 0; pair < symbols * symbols; ++pair) {
    std::vector<double> weight;
    double total = 0;
    for (std::int64_t next = 0; next < symbols; ++next) {
      weight.push_back(gamma_variate(rng, concentration));
      total += weight.back();
    }
    for (const double w : weight)
      probability_.push_back((1 - kFloor) * w / total + kFloor / static_cast<double>(symbols));
  }
}

Text MarkovSource::draw(Rng& rng, std::int64_t length) const {
  Text text;
  std::int64_t before = rng.integer(0, symbols_ - 1);
  std::int64_t last = rng.integer(0, symbols_ - 1);
  constexpr std::int64_t kForgotten = 64;  // the start is not drawn from the long run
  for (std::int64_t i = -kForgotten; i < length; ++i) {
    double left = rng.uniform();
    std::int64_t next = 0;
    while (next + 1 < symbols_ &&
           (left -= probability_[row(before, last) + static_cast<std::size_t>(next)]) >= 0)
      ++next;
    if (i >= 0) text.push_back(static_cast<std::uint16_t>(next));
    before = last;
    last = next;
  }
  return text;
}

double MarkovSource::entropy_rate() const {
  const auto pairs = static_cast<std::size_t>(symbols_ * symbols_);
  std::vector<double> visits(pairs, 1 / static_cast<double>(pairs));
  const auto pair_at = [this](std::int64_t a, std::int64_t b) {
    return static_cast<std::size_t>(a * symbols_ + b);
  };
  for (int step = 0; step < 2000; ++step) {
    std::vector<double> next_visits(pairs);
    double change = 0;
    for (std::int64_t a = 0; a < symbols_; ++a)
      for (std::int64_t b = 0; b < symbols_; ++b)
        for (std::int64_t c = 0; c < symbols_; ++c)
          next_visits[pair_at(b, c)] +=
              visits[pair_at(a, b)] * probability_[row(a, b) + static_cast<std::size_t>(c)];
    for (std::size_t i = 0; i < pairs; ++i) change += std::abs(next_visits[i] - visits[i]);
    visits = std::move(next_visits);
    if (change < 1e-13) break;
  }
  double rate = 0;
  for (std::size_t pair = 0; pair < pairs; ++pair)
    for (std::size_t c = 0; c < static_cast<std::size_t>(symbols_); ++c) {
      const double p = probability_[pair * static_cast<std::size_t>(symbols_) + c];
      rate -= visits[pair] * p * std::log(p);
    }
  return rate;
}

Likelihood MarkovSource::likelihood(std::span<const Text> texts) const {
  Likelihood likelihood;
  for (const Text& text : texts)
    for (std::size_t i = 2; i < text.size(); ++i) {
      likelihood.total -= std::log(probability_[row(text[i - 2], text[i - 1]) + text[i]]);
      ++likelihood.predictions;
    }
  return likelihood;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
