// SPDX-License-Identifier: Apache-2.0
#include "model.h"

#include <fmt/format.h>

#include "harness/core/machine.h"
#include "harness/measure/given_time.h"
#include "ngrams.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

namespace {

// For a machine where somebody else computes: the run takes three times as long.
constexpr std::chrono::seconds kLongestWait{20};

}  // namespace

TrainingPlan TrainingPlan::graded() {
  TrainingPlan graded;
  graded.model = {512, 128, 4, 4, 384, 128, 128};
  graded.training_tokens = 49'152;
  graded.hidden_tokens = 16'384;
  graded.max_seconds = 60;
  graded.threads = this_machine().cores;
  return graded;
}

TrainingPlan TrainingPlan::large() {
  TrainingPlan large = graded();
  large.model = {1024, 256, 6, 8, 768, 256, 128};
  large.training_tokens = 200'000;
  large.hidden_tokens = 32'768;
  large.max_seconds = 300;
  return large;
}

TrainingPlan TrainingPlan::brief() {
  TrainingPlan brief;
  brief.model = {256, 64, 2, 2, 128, 64, 64};
  brief.training_tokens = 16'384;
  brief.hidden_tokens = 4'096;
  brief.max_tokens = 32'768;
  return brief;
}

TrainingRequest request_for(const TrainingPlan& plan, const std::vector<Text>& documents,
                            std::uint64_t seed) {
  TrainingRequest request;
  request.model = plan.model;
  request.documents = documents;
  request.max_seconds = plan.max_seconds;
  request.max_tokens = plan.max_tokens;
  request.options.threads = plan.threads;
  request.seed = seed;
  return request;
}

void TrainingRun::ensure_trained(Probe& probe) {
  if (probe.observation().cases == 0) probe.begin_case("graded_run");
  if (!tried_) {
    tried_ = true;
    try {
      prepare(probe);
      train_once(probe);
    } catch (const CheckEnded& ended) {
      failure_ = ended.finding;
    }
  }
  if (failure_) throw CheckEnded{*failure_};
}

void TrainingRun::prepare(Probe& probe) {
  plan_ = probe.audit()             ? TrainingPlan::brief()
          : probe.size() == "large" ? TrainingPlan::large()
                                    : TrainingPlan::graded();
  threads_ = probe.audit() ? 1 : this_machine().cores;
  Rng rng = probe.common_stream("course");
  text_.emplace(Rng(rng.seed()), probe.challenge_folder() / "data",
                TextSizes{plan_.model.vocab, plan_.training_tokens, plan_.hidden_tokens});
  request_ = request_for(plan_, text_->training(), rng());
  // Room for a file that is not ternary: it is to be refused, not to crash.
  request_.spare_bytes = 4 * weights_of(plan_.model);
}

void TrainingRun::train_once(Probe& probe) {
  probe.take_machine();
  TrainingRequest request =
      request_;  // one that speaks through this check's probe, which does not last
  request.enough = [&probe](const TernaryProgress& progress, double seconds) {
    probe.say(fmt::format("step {}, {:.2f} nats, {:.1f}K tokens/s", progress.steps,
                          progress.train_nll,
                          static_cast<double>(progress.tokens_seen) / 1000 / seconds));
    return false;
  };
  // An audit's run is counted in tokens: the clock decides nothing.
  std::optional<GivenTime> given;
  if (!probe.audit()) {
    given.emplace(probe.solution());
    probe.say("waiting for other programs to end");
    given->wait_for_quiet(kLongestWait);
    given->start();
  }
  result_ = train(probe, request);
  if (given) lost_ = given->lost();
}

const Checkpoint& TrainingRun::checkpoint(Probe& probe) {
  ensure_trained(probe);
  if (!checkpoint_) checkpoint_ = require_checkpoint(probe, request_, result_);
  return *checkpoint_;
}

const Network& TrainingRun::network(Probe& probe) {
  if (!network_) network_.emplace(checkpoint(probe));
  ensure_trained(probe);
  return *network_;
}

const Likelihood& TrainingRun::hidden(Probe& probe) {
  const Network& trained = network(probe);
  if (!hidden_) hidden_ = likelihood_of(trained, text_->hidden(), threads_);
  return *hidden_;
}

const Likelihood& TrainingRun::claimed(Probe& probe) {
  const Network& trained = network(probe);
  if (!claimed_) claimed_ = likelihood_of(trained, claimed_text(request_.documents));
  return *claimed_;
}

const Baselines& TrainingRun::baselines() {
  if (!baselines_) {
    const auto& training = text_->training();
    const auto& hidden = text_->hidden();
    const std::int64_t vocab = plan_.model.vocab;
    baselines_ = {unigram_likelihood(training, hidden, vocab).perplexity(),
                  KneserNey(training, vocab, 2).likelihood(hidden).perplexity(),
                  KneserNey(training, vocab, 3).likelihood(hidden).perplexity()};
  }
  return *baselines_;
}

void fail_by_the_clock(Probe& probe, double lost, const std::string& summary) {
  if (!probe.audit() && lost > GivenTime::kMostLost) probe.unmeasured(not_given(summary, lost));
  probe.fail(summary);
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
