// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/grading/probe.h"
#include "judge.h"
#include "text.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// What is trained, on how much text, for how long.
struct TrainingPlan {
  TernaryModel model{};
  std::int64_t training_tokens = 0;
  std::int64_t hidden_tokens = 0;
  double max_seconds = -1;
  std::int64_t max_tokens = -1;
  int threads = 1;

  /// The graded run: a million weights, a minute, all cores.
  static TrainingPlan graded();
  /// The size "large": five times the weights, five minutes. For machines with more cores.
  static TrainingPlan large();
  /// A few seconds of one core, counted in tokens: for audits, and for questions that need a run of
  /// their own.
  static TrainingPlan brief();
};

/// What a plan asks for on given texts.
TrainingRequest request_for(const TrainingPlan& plan, const std::vector<Text>& documents,
                            std::uint64_t seed);

/// Perplexities of the hidden texts that counting the training text reaches.
struct Baselines {
  double unigram = 0;
  double bigram = 0;
  double trigram = 0;
};

/// Fails a check that others may have made fail, by taking time: where they had more of the
/// processors than GivenTime allows, it is unmeasured. Audits run several solutions at once, and
/// have bars that leave room for it.
[[noreturn]] void fail_by_the_clock(Probe& probe, double lost, const std::string& summary);

/// The training run that most checks of a cell look at. The first one that needs it trains; when
/// that failed, it fails every other one alike.
class TrainingRun {
 public:
  /// Trains if nobody did, and ends the check if training failed. Returns at once after that.
  void ensure_trained(Probe& probe);

  const TrainingPlan& plan() const { return plan_; }
  const TrainingText& text() const { return *text_; }
  const TrainingRequest& request() const { return request_; }
  const TrainingResult& result() const { return result_; }

  /// What others had of the processors during a run that the clock ended, 0..1.
  double lost() const { return lost_; }

  /// Threads for evaluations of our own.
  int threads() const { return threads_; }

  /// The checkpoint and what it makes of texts; end the check when there is none.
  const Checkpoint& checkpoint(Probe& probe);
  const Network& network(Probe& probe);
  const Likelihood& hidden(Probe& probe);
  const Likelihood& claimed(Probe& probe);  // of the text that train_nll speaks of
  const Baselines& baselines();

 private:
  void prepare(Probe& probe);
  void train_once(Probe& probe);

  bool tried_ = false;
  std::optional<Finding> failure_;
  TrainingPlan plan_;
  std::optional<TrainingText> text_;
  TrainingRequest request_;
  TrainingResult result_;
  double lost_ = 0;
  int threads_ = 1;
  std::optional<Checkpoint> checkpoint_;
  std::optional<Network> network_;
  std::optional<Likelihood> hidden_, claimed_;
  std::optional<Baselines> baselines_;
};

/// A check of the one run that all groups share.
inline std::function<void(Probe&)> with_run(std::shared_ptr<TrainingRun> run,
                                            void (*check)(Probe&, TrainingRun&)) {
  return [run = std::move(run), check](Probe& probe) { check(probe, *run); };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
