#include "small_lessons.h"

#include <cmath>
#include <fmt/format.h>
#include <map>

namespace gauntlet::GAUNTLET_CHALLENGE {

TernaryModel small_model() {
  return {24, 32, 1, 2, 64, 16, 32};
}

Text source_text(Rng& rng, std::int64_t symbols, std::int64_t tokens) {
  const MarkovSource source(rng, symbols, 0.15);
  return source.draw(rng, tokens);
}

Lesson small_lesson(Rng& rng, std::int64_t max_tokens) {
  Lesson lesson;
  lesson.model = small_model();
  lesson.documents = {source_text(rng, lesson.model.vocab, 1'500)};
  lesson.max_tokens = max_tokens;
  lesson.seed = rng();
  return lesson;
}

Learnt learn(Probe& probe, const Lesson& lesson) {
  Learnt learnt{train(probe, lesson), {}, 0};
  learnt.checkpoint = checkpoint_of(probe, lesson, learnt.outcome);
  learnt.train_nll =
      likelihood_of(Network(learnt.checkpoint), claimed_text(lesson.documents)).mean();
  if (const std::int64_t seen = learnt.outcome.tokens_seen;
      lesson.max_tokens >= 0 && !(seen >= 0 && seen <= lesson.max_tokens))
    probe.fail(fmt::format("tokens_seen is {}, max_tokens {}", seen, lesson.max_tokens));
  return learnt;
}

void require_claim(Probe& probe, const Learnt& learnt) {
  const double claimed = learnt.outcome.train_nll;
  if (!(std::abs(claimed - learnt.train_nll) <= 1e-3 * learnt.train_nll))
    probe.fail(fmt::format("train_nll is {:.5f}; the checkpoint gives that text {:.5f}", claimed,
                           learnt.train_nll));
}

double own_entropy(const Text& text) {
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
