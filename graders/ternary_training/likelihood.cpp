// SPDX-License-Identifier: Apache-2.0
#include "likelihood.h"

#include <algorithm>
#include <cmath>

#include "harness/core/parallel.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// The predictions of one window: tokens `begin` .. of a text, and the one that follows each.
struct Window {
  std::span<const std::uint16_t> tokens;
  std::span<const std::uint16_t> next;
};

void cut(std::span<const std::uint16_t> text, std::int64_t context, std::vector<Window>& windows) {
  const auto step = static_cast<std::size_t>(context);
  for (std::size_t begin = 0; begin + 1 < text.size(); begin += step) {
    const std::size_t count = std::min(step, text.size() - 1 - begin);
    windows.push_back({text.subspan(begin, count), text.subspan(begin + 1, count)});
  }
}

/// Sums in float64: a text has thousands of predictions.
double negative_log_likelihood(const Network& network, const Window& window) {
  const std::vector<float> logits = network.logits(window.tokens);
  const auto vocab = static_cast<std::size_t>(network.model().vocab);
  double total = 0;
  for (std::size_t p = 0; p < window.next.size(); ++p) {
    const std::span row(logits.data() + p * vocab, vocab);
    const float top = *std::max_element(row.begin(), row.end());
    double sum = 0;
    for (const float logit : row) sum += std::exp(logit - top);
    total += std::log(sum) + top - row[window.next[p]];
  }
  return total;
}

Likelihood over(const Network& network, const std::vector<Window>& windows, int threads) {
  std::vector<double> parts(windows.size());
  parallel_for(windows.size(), threads,
               [&](std::size_t i) { parts[i] = negative_log_likelihood(network, windows[i]); });
  Likelihood likelihood;
  for (const double part : parts) likelihood.total += part;  // same order for any thread count
  for (const Window& window : windows) likelihood.predictions += std::ssize(window.tokens);
  return likelihood;
}

}  // namespace

double Likelihood::perplexity() const {
  return std::exp(mean());
}

Likelihood likelihood_of(const Network& network, std::span<const Text> texts, int threads) {
  std::vector<Window> windows;
  for (const Text& text : texts) cut(text, network.model().context, windows);
  return over(network, windows, threads);
}

Likelihood likelihood_of(const Network& network, std::span<const std::uint16_t> text) {
  std::vector<Window> windows;
  cut(text, network.model().context, windows);
  return over(network, windows, 1);
}

std::vector<Text> first_tokens(std::span<const Text> texts, std::size_t tokens) {
  std::vector<Text> first;
  for (const Text& text : texts) {
    if (tokens == 0) break;
    const std::size_t count = std::min(tokens, text.size());
    first.emplace_back(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(count));
    tokens -= count;
  }
  return first;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
