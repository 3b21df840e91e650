// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <utility>

#include "harness/grading/grader.h"
#include "harness/measure/given_time.h"
#include "model.h"
#include "ngrams.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// What a call may take beyond its limit before it is said to ignore it: the machine may be busy,
/// in audits with other solutions.
double grace(const Probe& probe) {
  return probe.audit() ? 1.5 : 0.3;
}

void require_in_time(Probe& probe, double limit, double seconds, double lost) {
  if (!(seconds <= 1.05 * limit + grace(probe)))
    fail_by_the_clock(probe, lost,
                      fmt::format("the call took {:.2f} s, max_seconds is {:g}", seconds, limit));
}

/// A request that nothing but its limits ends: the brief model on endless text.
TrainingRequest long_request(Rng& rng) {
  TrainingPlan plan = TrainingPlan::brief();
  plan.model.vocab = 40;
  plan.max_tokens = -1;
  return request_for(plan, {source_text(rng, 40, 30'000)}, rng());
}

/// Trains for some tokens with other float controls, which have to stay (CallBase::unusual_floats).
/// What is learned under them nobody looks at.
void require_controls_stay(Probe& probe, std::int64_t tokens) {
  Rng rng = probe.begin_case(fmt::format("{}_tokens_rounded_upwards", tokens));
  TrainingCall call(small_request(rng, tokens));
  call.unusual_floats = true;
  probe.run_ok(call);
  probe.restart();  // threads that were started under them keep them
}

// One that is over before it is noticed would hang: after a multiple of its time it is asked to
// end, and fails.
void time_limit(Probe& probe, TrainingRun& run) {
  if (!probe.audit()) {
    run.ensure_trained(probe);
    require_in_time(probe, run.request().max_seconds, run.result().seconds, run.lost());
  }
  for (const double limit : {0.1, 0.7}) {
    Rng rng = probe.begin_case(fmt::format("{}_seconds", limit));
    TrainingRequest request = long_request(rng);
    request.max_seconds = limit;
    request.enough = [limit](const TernaryProgress&, double seconds) {
      return seconds > 2 * limit + 1;
    };
    probe.take_machine();
    GivenTime given(probe.solution());
    const TrainedModel trained = require_trained(probe, request);
    require_in_time(probe, limit, trained.result.seconds, given.lost());
  }
}

// No tokens at all leave a model that knows nothing, not even which tokens are frequent; and so do
// so few that each says something of itself at most. What a solution counts is its own to say.
void token_limit(Probe& probe) {
  for (const std::int64_t limit : {0, 1, 17, 1'000, 5'000}) {
    Rng rng = probe.begin_case(fmt::format("{}_tokens", limit));
    TrainingRequest request = small_request(rng, limit);
    request.enough = [limit](const TernaryProgress& progress, double seconds) {
      return progress.tokens_seen > 4 * limit + 10'000 || seconds > 5;
    };
    const TrainedModel trained = require_trained(probe, request);
    for (const Report& report : trained.result.reports)
      if (report.progress.tokens_seen > limit)
        probe.fail(fmt::format("progress speaks of {} tokens, max_tokens is {}",
                               report.progress.tokens_seen, limit));
    if (const double knows_nothing = 0.98 * empirical_entropy(request.documents[0]);
        limit <= 17 && !(trained.train_nll >= knows_nothing))
      probe.fail(fmt::format("after {} tokens the text has {:.3f} nats a token, want {:.3f}", limit,
                             trained.train_nll, knows_nothing));
  }
  // Of windows so short, a limit has room for many batches of several, and for a part of one.
  for (const std::int64_t context : {2, 3, 5}) {
    Rng rng = probe.begin_case(fmt::format("windows_of_{}", context));
    TrainingRequest request = small_request(rng, rng.integer(900, 1100) * 5 * context - 1);
    request.model.context = context;
    require_trained(probe, request);
  }
  require_controls_stay(probe, 0);
  // And five thousand tokens leave their mark on every tensor.
  Rng rng = probe.begin_case("some_against_none");
  TrainingRequest request = small_request(rng, 5'000);
  const Checkpoint some = require_trained(probe, request).checkpoint;
  request.max_tokens = 0;
  const Checkpoint none = require_trained(probe, request).checkpoint;
  const std::vector<Tensor> tensors = tensors_of(request.model);
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (some.matrices[i].codes == none.matrices[i].codes &&
        some.matrices[i].scales == none.matrices[i].scales)
      probe.fail(fmt::format("{}: 5,000 tokens changed nothing", tensors[i].name));
}

// How much a model knows of the text that it was trained on, in nats a token below counting its
// tokens. Of a text of 1,500 tokens drawn from 576 pairs, 300 say what they are themselves and
// little of the rest: twice their share is what they may teach of what 20,000 do, which is the text
// thirteen times over, and a fiftieth of the text's entropy for what the counts of its tokens say.
void tokens_counted(Probe& probe) {
  Rng rng = probe.begin_case("the_same_text");
  TrainingRequest request = small_request(rng);
  const double entropy = empirical_entropy(request.documents[0]);
  const auto knows = [&](std::int64_t tokens) {
    request.max_tokens = tokens;
    const double known = entropy - require_trained(probe, request).train_nll;
    probe.fact(fmt::format("known of a text after {} tokens", tokens), known, "nats");
    return known;
  };
  constexpr std::int64_t kMany = 20'000;
  const double most = std::max(0.0, knows(kMany));
  for (const std::int64_t limit : {17, 300}) {
    const double share =
        2 * static_cast<double>(limit) / static_cast<double>(request.documents[0].size());
    const double allowed = 0.02 * entropy + share * most;
    if (const double known = knows(limit); !(known <= allowed))
      probe.fail(
          fmt::format("{} tokens teach {:.3f} nats a token, want {:.3f} or less ({} teach "
                      "{:.3f})",
                      limit, known, allowed, kMany, most));
  }
}

/// Has training asked to end, by every report from a time on; seconds that it went on for.
double require_stopped(Probe& probe, TrainingRequest request, double when, std::int64_t answer) {
  request.max_seconds = 4;
  request.answer = answer;
  request.enough = [when](const TernaryProgress&, double seconds) { return seconds >= when; };
  const TrainingResult result = train(probe, request);
  require_checkpoint(probe, request, result);
  const auto& reports = result.reports;
  const auto asked = std::find_if(reports.begin(), reports.end(),
                                  [when](const Report& one) { return one.seconds >= when; });
  if (asked == reports.end()) probe.fail("progress was never called");
  if (const auto more = reports.end() - asked - 1; more > 1)
    probe.fail(fmt::format("progress was called {} times after it had asked to end", more));
  return result.seconds - asked->seconds;
}

// Below 0, and nothing where 32 bits are kept, is a result other than 0 as well.
constexpr std::int64_t kLeastAnswer = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kNarrowedAnswer = std::int64_t{1} << 32;

// A listener may be null, and a limit so large that 32 bits have nothing of it. Of training that
// was asked to end nothing is left for the next one.
void early_stop(Probe& probe) {
  Rng drawn = probe.begin_case("before_any_was_asked_to_end");
  TrainingRequest short_one = long_request(drawn);
  short_one.documents.resize(1);
  short_one.documents[0].resize(300);
  short_one.max_tokens = 300;
  const TrainingResult before = train(probe, short_one);

  struct Stop {
    double when;
    std::int64_t answer, max_tokens;
    bool null_listener = false;
  };
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  for (const auto& [when, answer, max_tokens, null_listener] :
       {Stop{0.0, kNarrowedAnswer, kLargest}, Stop{0.1, -1, -1, true},
        Stop{0.2, 1, std::int64_t{1} << 32}}) {
    Rng rng = probe.begin_case(fmt::format("{}_after_{}_seconds", answer, when));
    GivenTime given(probe.solution());
    TrainingRequest request = long_request(rng);
    request.max_tokens = max_tokens;
    request.null_listener = null_listener;
    const double after = require_stopped(probe, request, when, answer);
    if (!(after <= 0.7 + grace(probe)))
      fail_by_the_clock(
          probe, given.lost(),
          fmt::format("the call went on for {:.2f} s after it was asked to end", after));
  }
  probe.begin_case("after_some_were_asked_to_end");
  if (train(probe, short_one).bytes != before.bytes)
    probe.fail("the same call gave another checkpoint after calls that were asked to end");
  require_controls_stay(probe, 300);
}

void progress_reported(Probe& probe, TrainingRun& run) {
  run.ensure_trained(probe);
  const TrainingResult& result = run.result();
  const auto& reports = result.reports;
  if (reports.empty()) probe.fail("progress was never called");
  double last = 0;
  for (const Report& report : reports) {
    if (!(report.seconds - last <= 1.6))
      fail_by_the_clock(probe, run.lost(),
                        fmt::format("progress was not called for {:.1f} s, from {:.1f} s on",
                                    report.seconds - last, last));
    last = report.seconds;
  }
  if (!(result.seconds - last <= 1.6))
    fail_by_the_clock(
        probe, run.lost(),
        fmt::format("progress was not called in the last {:.1f} s", result.seconds - last));
  for (std::size_t i = 1; i < reports.size(); ++i)
    if (reports[i].progress.steps < reports[i - 1].progress.steps ||
        reports[i].progress.tokens_seen < reports[i - 1].progress.tokens_seen)
      probe.fail(fmt::format("report {} counts {} steps and {} tokens, the one before {} and {}", i,
                             reports[i].progress.steps, reports[i].progress.tokens_seen,
                             reports[i - 1].progress.steps, reports[i - 1].progress.tokens_seen));
  const TernaryProgress& end = reports.back().progress;
  if (end.steps < 1 || end.tokens_seen != result.tokens_seen || !std::isfinite(end.train_nll))
    probe.fail(fmt::format("the last report has {} steps, {} tokens and {} nats; tokens_seen is {}",
                           end.steps, end.tokens_seen, end.train_nll, result.tokens_seen));
  // Nobody asked that run to end; of one that is asked, there is at most one report more. What is
  // left to do, the likelihood of the text, takes one thread longer than reports lie apart.
  probe.begin_case("asked_to_end");
  TrainingRequest request = run.request();
  request.options.threads = 1;
  request.null_listener = true;
  require_stopped(probe, request, 0, kLeastAnswer);
}

}  // namespace

std::vector<Check> limits_checks(const std::shared_ptr<TrainingRun>& run) {
  using enum Section;
  using enum Severity;
  return {
      {{"time_limit", "training that outlasts its time", robustness, 2, major},
       with_run(run, time_limit)},
      {{"token_limit", "training on more tokens than allowed", robustness, 2, major}, token_limit},
      {{"tokens_counted", "more learnt than the tokens that are counted can teach", robustness, 1,
        major},
       tokens_counted},
      {{"early_stop", "a request to end that goes unheard", robustness, 1, major}, early_stop},
      {{"progress_reported", "long silence, counts that fall", robustness, 1, minor},
       with_run(run, progress_reported)},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
