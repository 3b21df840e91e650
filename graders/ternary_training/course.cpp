#include "course.h"

#include <fmt/format.h>

#include "harness/core/machine.h"
#include "ngrams.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

Curriculum Curriculum::graded() {
  Curriculum graded;
  graded.model = {512, 128, 4, 4, 384, 128, 128};
  graded.training_tokens = 49'152;
  graded.hidden_tokens = 16'384;
  graded.max_seconds = 60;
  graded.threads = this_machine().cores;
  return graded;
}

Curriculum Curriculum::large() {
  Curriculum large = graded();
  large.model = {1024, 256, 6, 8, 768, 256, 128};
  large.training_tokens = 200'000;
  large.hidden_tokens = 32'768;
  large.max_seconds = 300;
  return large;
}

Curriculum Curriculum::brief() {
  Curriculum brief;
  brief.model = {256, 64, 2, 2, 128, 64, 64};
  brief.training_tokens = 16'384;
  brief.hidden_tokens = 4'096;
  brief.max_tokens = 32'768;
  return brief;
}

Lesson lesson_of(const Curriculum& curriculum, const std::vector<Text>& documents,
                 std::uint64_t seed) {
  Lesson lesson;
  lesson.model = curriculum.model;
  lesson.documents = documents;
  lesson.max_seconds = curriculum.max_seconds;
  lesson.max_tokens = curriculum.max_tokens;
  lesson.threads = curriculum.threads;
  lesson.seed = seed;
  return lesson;
}

void Course::attend(Probe& probe) {
  if (probe.observation().cases == 0) probe.begin_case("graded_run");
  if (!attended_) {
    attended_ = true;
    try {
      begin(probe);
      learn(probe);
    } catch (const CheckEnded& ended) {
      failure_ = ended.finding;
    }
  }
  if (failure_) throw CheckEnded{*failure_};
}

void Course::begin(Probe& probe) {
  curriculum_ = probe.audit()             ? Curriculum::brief()
                : probe.size() == "large" ? Curriculum::large()
                                          : Curriculum::graded();
  threads_ = probe.audit() ? 1 : this_machine().cores;
  Rng rng = probe.common_stream("course");
  reading_.emplace(
      Rng(rng.seed()), probe.challenge_folder() / "data",
      ReadingSize{curriculum_.model.vocab, curriculum_.training_tokens, curriculum_.hidden_tokens});
  lesson_ = lesson_of(curriculum_, reading_->training(), rng());
  // Room for a file that is not ternary: it is to be refused, not to crash.
  lesson_.spare_bytes = 4 * weights_of(curriculum_.model);
}

void Course::learn(Probe& probe) {
  probe.take_machine();
  Lesson lesson = lesson_;  // one that speaks through this check's probe, which does not last
  lesson.enough = [&probe](const TernaryProgress& progress, double seconds) {
    probe.say(fmt::format("step {}, {:.2f} nats, {:.1f}K tokens/s", progress.steps,
                          progress.train_nll,
                          static_cast<double>(progress.tokens_seen) / 1000 / seconds));
    return false;
  };
  outcome_ = train(probe, lesson);
}

const Checkpoint& Course::checkpoint(Probe& probe) {
  attend(probe);
  if (!checkpoint_) checkpoint_ = checkpoint_of(probe, lesson_, outcome_);
  return *checkpoint_;
}

const Network& Course::network(Probe& probe) {
  if (!network_) network_.emplace(checkpoint(probe));
  attend(probe);
  return *network_;
}

const Likelihood& Course::hidden(Probe& probe) {
  const Network& learnt = network(probe);
  if (!hidden_) hidden_ = likelihood_of(learnt, reading_->hidden(), threads_);
  return *hidden_;
}

const Likelihood& Course::claimed(Probe& probe) {
  const Network& learnt = network(probe);
  if (!claimed_) claimed_ = likelihood_of(learnt, claimed_text(lesson_.documents));
  return *claimed_;
}

const Yardsticks& Course::yardsticks() {
  if (!yardsticks_) {
    const auto& training = reading_->training();
    const auto& hidden = reading_->hidden();
    const std::int64_t vocab = curriculum_.model.vocab;
    yardsticks_ = {unigram_likelihood(training, hidden, vocab).perplexity(),
                   KneserNey(training, vocab, 2).likelihood(hidden).perplexity(),
                   KneserNey(training, vocab, 3).likelihood(hidden).perplexity()};
  }
  return *yardsticks_;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
