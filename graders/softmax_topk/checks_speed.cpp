#include <algorithm>
#include <fmt/format.h>
#include <memory>

#include "graders/kit/laps.h"
#include "harness/core/machine.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "harness/measure/scaling.h"
#include "judge.h"
#include "lap_judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using Fill = void (*)(Rng& rng, std::span<float> row);

struct Shape {
  const char* name;
  std::int64_t rows;
  std::int64_t vocab;
  std::int64_t k;
  Fill fill;
};

void fill_random(Rng& rng, std::span<float> row) {
  fill_noise(rng, row);
}

/// Every entry is a little above nearly all before it: each one enters a list of the best so far.
void fill_ascending(Rng& rng, std::span<float> row) {
  fill_noise(rng, row, {0, 1e-3});
  const float step = 16 / static_cast<float>(row.size());
  for (std::size_t j = 0; j < row.size(); ++j) row[j] += step * static_cast<float>(j);
}

/// Runs of 997 that all end at about the same height: the best so far hardly ever improves, and
/// only at places far apart.
void fill_sawtooth(Rng& rng, std::span<float> row) {
  constexpr std::size_t kTooth = 997;
  fill_noise(rng, row, {0, 1e-2});
  for (std::size_t begin = 0; begin < row.size(); begin += kTooth) {
    const std::size_t end = std::min(row.size(), begin + kTooth);
    for (std::size_t j = begin; j < end; ++j) row[j] += static_cast<float>(j - begin) * 8e-3f;
  }
}

// 16 MiB of logits, every time others, so that they come from memory; less where a solution that
// keeps a sorted list may be slow. Enough for the rounds that an interval needs.
constexpr Shape kFriendly[] = {
    {"batch_32x128256_k50", 32, 128'256, 50, fill_random},
    {"prefill_128x32000_k20", 128, 32'000, 20, fill_random},
    {"one_row_1x4194304_k128", 1, 4'194'304, 128, fill_random},
};
constexpr Shape kHard[] = {
    {"ascending_24x131072_k50", 24, 131'072, 50, fill_ascending},
    {"sawtooth_24x128256_k256", 24, 128'256, 256, fill_sawtooth},
};

/// The inputs of a race: one at a time, shared by all contestants of its round.
class Rounds {
 public:
  explicit Rounds(const Shape& shape)
      : fill_(shape.fill), problem_(blank_problem(shape.rows, shape.vocab, shape.k)) {
    problem_.threads = this_machine().cores;
  }

  void renew(Rng& inputs, Rng& judge) {
    for (std::int64_t i = 0; i < problem_.rows; ++i) fill_(inputs, problem_.row(i));
    judge_ = std::make_unique<LapJudge>(problem_, judge);
  }

  Lap lap(Session& session) const {
    Asked asked(problem_);
    session.run(asked.call);
    Lap lap{asked.call.elapsed, {}};
    if (asked.call.returned != 0) {
      lap.finding = Finding{
          Verdict::wrong, "", fmt::format("softmax_topk returned {}", asked.call.returned), {}, {}};
    } else if (auto fault = judge_->judge(asked.answer())) {
      lap.finding = Finding{Verdict::wrong, "", describe(fault->miss), std::move(fault->evidence),
                            fault->miss};
    }
    return lap;
  }

 private:
  Fill fill_;
  Problem problem_;
  std::unique_ptr<LapJudge> judge_;
};

RaceSpec spec_for(const Shape& shape) {
  const auto rounds = std::make_shared<Rounds>(shape);
  RaceSpec spec;
  spec.case_name = shape.name;
  // Every logit in once; k indices and probabilities out. Of the work only what nobody can argue
  // with: an exponential and an addition for each logit, as one operation each.
  const double logits = static_cast<double>(shape.rows) * static_cast<double>(shape.vocab);
  spec.input_bytes = 4 * logits;
  spec.floor_bytes = spec.input_bytes + 8 * static_cast<double>(shape.rows * shape.k);
  spec.floor_flops = 2 * logits;
  spec.prepare = [rounds](Rng& inputs, Rng& judge) { rounds->renew(inputs, judge); };
  spec.lap = [rounds](Session& session) { return rounds->lap(session); };
  return spec;
}

void race_shapes(Probe& probe, std::span<const Shape> shapes) {
  constexpr RaceBudget kBudget{6, 21, std::chrono::milliseconds(400)};
  std::vector<RaceSpec> specs;
  for (const Shape& shape : shapes) specs.push_back(spec_for(shape));
  kit::race(probe, specs, kBudget);
}

void speed(Probe& probe) {
  race_shapes(probe, kFriendly);
}

void speed_in_any_order(Probe& probe) {
  race_shapes(probe, kHard);
}

}  // namespace

ScalingQuestion growth_in_vocabulary() {
  ScalingQuestion question;
  question.axis = "vocabulary";
  question.sizes = {1 << 17, 1 << 18, 1 << 19, 1 << 20};
  question.at = [](std::int64_t vocab, Rng& inputs, Rng& judge) {
    const auto rounds = std::make_shared<Rounds>(Shape{"", 8, vocab, 50, fill_random});
    rounds->renew(inputs, judge);
    return [rounds](Session& session) { return rounds->lap(session); };
  };
  return question;
}

std::vector<Check> speed_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"speed", "slowness", performance, 3, minor}, speed},
      {{"speed_in_any_order", "speed on friendly data only", performance, 2, minor},
       speed_in_any_order},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
