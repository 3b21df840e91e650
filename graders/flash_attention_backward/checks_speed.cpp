#include <cmath>
#include <fmt/format.h>
#include <memory>

#include "ask.h"
#include "graders/kit/compare.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "large.h"
#include "samples.h"
#include "tolerance.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

double visible_pairs(const kit::AttentionProblem& form) {
  std::int64_t pairs = 0;
  for (std::int64_t batch = 0; batch < form.batch; ++batch)
    for (std::int64_t i = 0; i < form.q_len; ++i) pairs += form.visible_keys(batch, i).size();
  return static_cast<double>(pairs * form.q_heads);
}

/// <a, b> and the sum of the sizes of its terms.
struct InnerProduct {
  InnerProduct(const std::vector<float>& a, const std::vector<float>& b) {
    for (std::size_t n = 0; n < a.size(); ++n) {
      const double term = static_cast<double>(a[n]) * b[n];
      value += term;
      size += std::abs(term);
    }
  }

  double value = 0;
  double size = 0;
};

/// The inputs of one round, and the judge of its laps.
class Heat {
 public:
  Heat(const Sizes& sizes, bool causal) : problem_(hollow_problem(sizes)) {
    problem_.form.causal = causal;
  }

  const kit::AttentionProblem& form() const { return problem_.form; }

  void prepare(Rng& inputs, Rng& judge) {
    fill_quickly(problem_, inputs);
    samples_ = std::make_unique<Samples>(problem_, judge, kSampledRows);
  }

  Lap lap(Session& session) const {
    const Asking asking;
    Question question(problem_, asking);
    session.run(question.call);
    Lap lap{question.call.elapsed, std::nullopt};
    if (question.call.returned != 0) {
      lap.finding = wrong(fmt::format("returned {}, want 0", question.call.returned));
    } else if (auto miss = miss_of(question.answer())) {
      lap.finding = wrong(describe(*miss));
      lap.finding->miss = std::move(miss);
    }
    return lap;
  }

 private:
  static Finding wrong(std::string summary) {
    return {Verdict::wrong, "", std::move(summary), {}, std::nullopt};
  }

  /// Rows that nobody can foresee, and a sum in which every element of dq and dk takes part.
  std::optional<Miss> miss_of(const Answer& got) const {
    if (auto miss = samples_->miss(got)) return miss;
    const InnerProduct left(got.dq, problem_.q);
    const InnerProduct right(got.dk, problem_.k);
    const double allowed = kIdentity * (left.size + right.size);
    if (kit::within(right.value, left.value, allowed)) return std::nullopt;
    return Miss{"<dq, q> against <dk, k>", left.value, right.value, allowed, 1, 1};
  }

  Problem problem_;
  std::unique_ptr<Samples> samples_;
};

void race(Probe& probe, const char* name, const Sizes& sizes, bool causal) {
  const auto heat = std::make_shared<Heat>(sizes, causal);
  RaceSpec spec;
  spec.case_name = name;
  spec.floor_flops = 10.0 * static_cast<double>(sizes.dim) * visible_pairs(heat->form());
  spec.prepare = [heat](Rng& inputs, Rng& judge) { heat->prepare(inputs, judge); };
  spec.lap = [heat](Session& session) { return heat->lap(session); };
  RaceBudget budget;
  budget.time = std::chrono::milliseconds(600);
  probe.race(spec, budget);
}

// The least work is five products of visible pairs by head_dim: scores, dP, dv, dk and dq.
void speed_full(Probe& probe) {
  race(probe, "512 queries, 2048 keys, head_dim 64, 2 heads", {1, 2, 2, 512, 2048, 64, 64}, false);
}

// One head: whoever gives each thread a head of its own runs on one thread.
void speed_causal(Probe& probe) {
  race(probe, "1536 x 1536, head_dim 128, causal", {1, 1, 1, 1536, 1536, 128, 128}, true);
}

void speed_grouped(Probe& probe) {
  race(probe, "384 x 384, head_dim 64, causal, heads 8/2, batch 2", {2, 8, 2, 384, 384, 64, 64},
       true);
}

}  // namespace

std::vector<Check> speed_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"speed_full", "slow at full attention", performance, 1, minor}, speed_full},
      {{"speed_causal", "slow at causal attention", performance, 1, minor}, speed_causal},
      {{"speed_grouped", "slow at many short heads", performance, 1, minor}, speed_grouped},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
