// SPDX-License-Identifier: Apache-2.0
#include "exhibits.h"

#include <algorithm>
#include <cmath>

#include "harness/core/text.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// A text that goes on where it ends, one drawn token at a time: probabilities sharpened by the
/// temperature.
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

/// Bytes as lines of at most `width` characters, broken at spaces; safe to print.
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

}  // namespace

void show_loss(Probe& probe, const TrainingRun& run) {
  Curve curve{"Loss while training", "seconds", "nats a token, as the solution says", {}};
  for (const Report& report : run.result().reports)
    if (std::isfinite(report.progress.train_nll))
      curve.points.emplace_back(report.seconds, report.progress.train_nll);
  if (!curve.points.empty()) probe.curve(std::move(curve));
}

void show_sample(Probe& probe, TrainingRun& run) {
  Rng rng = probe.common_stream("sample");
  constexpr std::size_t kPrompt = 16;
  constexpr std::int64_t kTokens = 160;
  const Text& first = run.text().hidden().front();
  const Text prompt(first.begin(),
                    first.begin() + static_cast<std::ptrdiff_t>(std::min(kPrompt, first.size())));
  const Text text = continued(rng, run.network(probe), prompt, kTokens, 0.8);
  const auto written = std::span(text).subspan(prompt.size());
  std::vector<std::string> lines{"given:"};
  for (std::string& line : lines_of(run.text().words(prompt), 96)) lines.push_back("  " + line);
  lines.push_back("written by the model, at temperature 0.8:");
  for (std::string& line : lines_of(run.text().words(written), 96)) lines.push_back("  " + line);
  probe.exhibit({"Text of the trained model", std::move(lines)});
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
