#include <algorithm>
#include <fmt/format.h>
#include <memory>

#include "checks.h"
#include "harness/core/machine.h"
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
  fill_noise(row, rng());
}

/// Every entry is a little above nearly all before it: each one enters a list of the best so far.
void fill_ascending(Rng& rng, std::span<float> row) {
  fill_noise(row, rng(), {0, 1e-3});
  const float step = 16 / static_cast<float>(row.size());
  for (std::size_t j = 0; j < row.size(); ++j) row[j] += step * static_cast<float>(j);
}

/// Runs of 997 that all end at about the same height: the best so far hardly ever improves, and
/// only at places far apart.
void fill_sawtooth(Rng& rng, std::span<float> row) {
  constexpr std::size_t kTooth = 997;
  fill_noise(row, rng(), {0, 1e-2});
  for (std::size_t begin = 0; begin < row.size(); begin += kTooth) {
    const std::size_t end = std::min(row.size(), begin + kTooth);
    for (std::size_t j = begin; j < end; ++j) row[j] += static_cast<float>(j - begin) * 8e-3f;
  }
}

// 32 MiB of logits and more: beyond the last-level cache of most machines. The single row is 16.
constexpr Shape kFriendly[] = {
    {"batch_64x128256_k50", 64, 128'256, 50, fill_random},
    {"prefill_256x32000_k20", 256, 32'000, 20, fill_random},
    {"one_row_1x4194304_k128", 1, 4'194'304, 128, fill_random},
};
constexpr Shape kHard[] = {
    {"ascending_64x131072_k50", 64, 131'072, 50, fill_ascending},
    {"sawtooth_64x128256_k256", 64, 128'256, 256, fill_sawtooth},
};

/// One round's input, shared by all contestants of the round.
struct Round {
  Problem problem;
  std::unique_ptr<LapJudge> judge;

  Round(const Shape& shape, Rng& rng) : problem(blank_problem(shape.rows, shape.vocab, shape.k)) {
    problem.threads = this_machine().cores;
    for (std::int64_t i = 0; i < shape.rows; ++i) shape.fill(rng, problem.row(i));
    judge = std::make_unique<LapJudge>(problem, rng);
  }

  Lap lap(Session& session) const {
    Asked asked(problem);
    session.run(asked.call);
    Lap lap{asked.call.elapsed, {}};
    if (asked.call.returned != 0) {
      lap.finding = Finding{
          Verdict::wrong, "", fmt::format("softmax_topk returned {}", asked.call.returned), {}, {}};
    } else if (auto fault = judge->judge(asked.answer())) {
      lap.finding = Finding{Verdict::wrong, "", describe(fault->miss), std::move(fault->evidence),
                            fault->miss};
    }
    return lap;
  }
};

RaceSpec spec_for(const Shape& shape) {
  const auto round = std::make_shared<std::unique_ptr<Round>>();
  RaceSpec spec;
  spec.case_name = shape.name;
  // Every logit in once; k indices and probabilities out.
  spec.floor_bytes =
      static_cast<double>(shape.rows) * static_cast<double>(4 * shape.vocab + 8 * shape.k);
  spec.prepare = [round, shape](Rng& rng) { *round = std::make_unique<Round>(shape, rng); };
  spec.lap = [round](Session& session) { return (*round)->lap(session); };
  return spec;
}

constexpr RaceBudget kBudget{6, 21, std::chrono::milliseconds(400)};

}  // namespace

void speed(Probe& probe) {
  for (const Shape& shape : kFriendly) probe.race(spec_for(shape), kBudget);
}

void speed_in_any_order(Probe& probe) {
  for (const Shape& shape : kHard) probe.race(spec_for(shape), kBudget);
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
