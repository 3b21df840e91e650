#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/grading/probe.h"
#include "lesson.h"
#include "network.h"
#include "reading.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// What is taught, at what size.
struct Curriculum {
  TernaryModel model{};
  std::int64_t training_tokens = 0;
  std::int64_t hidden_tokens = 0;
  double max_seconds = -1;
  std::int64_t max_tokens = -1;
  int threads = 1;

  /// The graded run: a million weights, a minute, all cores.
  static Curriculum graded();
  /// The size "large": five times the weights, five minutes. For machines with more cores.
  static Curriculum large();
  /// A few seconds of one core, counted in tokens: for audits, and for questions that need a run of
  /// their own.
  static Curriculum brief();
};

/// The lesson of a curriculum on given texts.
Lesson lesson_of(const Curriculum& curriculum, const std::vector<Text>& documents,
                 std::uint64_t seed);

/// Perplexities of the hidden texts that counting the training text reaches.
struct Yardsticks {
  double unigram = 0;
  double bigram = 0;
  double trigram = 0;
};

/// The training run that most checks of a cell look at. The first one that needs it trains; when
/// that failed, it fails every other one alike.
class Course {
 public:
  /// Trains if nobody did, and ends the check if training failed. Returns at once after that.
  void attend(Probe& probe);

  const Curriculum& curriculum() const { return curriculum_; }
  const Reading& reading() const { return *reading_; }
  const Lesson& lesson() const { return lesson_; }
  const Outcome& outcome() const { return outcome_; }

  /// Threads for evaluations of our own.
  int threads() const { return threads_; }

  /// The checkpoint and what it makes of texts; end the check when there is none.
  const Checkpoint& checkpoint(Probe& probe);
  const Network& network(Probe& probe);
  const Likelihood& hidden(Probe& probe);
  const Likelihood& claimed(Probe& probe);  // of the text that train_nll speaks of
  const Yardsticks& yardsticks();

 private:
  void begin(Probe& probe);
  void learn(Probe& probe);

  bool attended_ = false;
  std::optional<Finding> failure_;
  Curriculum curriculum_;
  std::optional<Reading> reading_;
  Lesson lesson_;
  Outcome outcome_;
  int threads_ = 1;
  std::optional<Checkpoint> checkpoint_;
  std::optional<Network> network_;
  std::optional<Likelihood> hidden_, claimed_;
  std::optional<Yardsticks> yardsticks_;
};

/// A check of the one run that all groups share.
inline std::function<void(Probe&)> about(std::shared_ptr<Course> course,
                                         void (*check)(Probe&, Course&)) {
  return [course = std::move(course), check](Probe& probe) { check(probe, *course); };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
