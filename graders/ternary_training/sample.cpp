#include "sample.h"

#include <algorithm>
#include <cmath>

#include "harness/core/text.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

Text continued(Rng& rng, const Network& network, Text text, std::int64_t tokens,
               double temperature) {
  const auto context = static_cast<std::size_t>(network.model().context);
  for (std::int64_t n = 0; n < tokens; ++n) {
    const std::size_t seen = std::min(text.size(), context);
    const std::vector<float> logits =
        network.logits(std::span(text).last(seen), static_cast<std::int64_t>(seen) - 1);
    const float top = *std::max_element(logits.begin(), logits.end());
    std::vector<double> weight;
    double total = 0;
    for (const float logit : logits) {
      weight.push_back(std::exp((logit - top) / temperature));
      total += weight.back();
    }
    double left = rng.uniform() * total;
    std::size_t next = 0;
    while (next + 1 < weight.size() && (left -= weight[next]) >= 0) ++next;
    text.push_back(static_cast<std::uint16_t>(next));
  }
  return text;
}

std::vector<std::string> lines_of(const std::string& bytes, std::size_t width) {
  std::string text = printable(bytes);
  std::replace(text.begin(), text.end(), '\t', ' ');
  std::vector<std::string> lines{""};
  std::size_t begin = 0;
  while (begin < text.size()) {
    if (text[begin] == '\n') {
      lines.emplace_back();
      ++begin;
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(" \n", begin + 1), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (lines.back().size() + word.size() > width) lines.emplace_back();
    lines.back() += lines.back().empty() && word.front() == ' ' ? word.substr(1) : word;
    begin = end;
  }
  return lines;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
