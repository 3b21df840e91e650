#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <span>

#include "ask.h"
#include "cases.h"
#include "checks.h"
#include "graders/kit/compare.h"
#include "samples.h"
#include "tolerance.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr int kSampledRows = 10;  // of dq, and of dk with dv, in every lap

/// Roughly normal numbers, four from one draw: inputs of races are made between the laps.
void fill_quickly(std::vector<float>& array, std::int64_t count, Rng& rng, float deviation) {
  array.resize(static_cast<std::size_t>(count));
  std::uint64_t bits = 0;
  for (std::size_t n = 0; n < array.size(); ++n) {
    bits = n % 4 == 0 ? rng() : bits >> 16;
    array[n] = deviation * 3.4641016f * (static_cast<float>(bits & 0xffff) / 65535.0f - 0.5f);
  }
}

std::int64_t visible_pairs(const kit::AttentionProblem& form) {
  std::int64_t pairs = 0;
  for (std::int64_t batch = 0; batch < form.batch; ++batch)
    for (std::int64_t i = 0; i < form.q_len; ++i) pairs += form.visible_keys(batch, i).size();
  return pairs * form.q_heads;
}

/// Inputs that cost no forward pass: o and lse are what one over more keys might have left, and the
/// contract takes them as they are given.
void fill_quickly(Problem& problem, Rng& rng) {
  const kit::AttentionProblem& form = problem.form;
  fill_quickly(problem.q, problem.q_rows() * form.dim, rng, 1.5f);
  fill_quickly(problem.k, problem.k_rows() * form.dim, rng, 1);
  fill_quickly(problem.v, problem.k_rows() * form.value_dim, rng, 1);
  fill_quickly(problem.dout, problem.q_rows() * form.value_dim, rng, 1);
  fill_quickly(problem.o, problem.q_rows() * form.value_dim, rng, 0.2f);
  problem.lse.clear();
  for (std::int64_t row = 0; row < problem.q_rows(); ++row) {
    const auto keys = form.visible_keys(row / form.q_len / form.q_heads, row % form.q_len);
    const double about = std::log(static_cast<double>(keys.size())) + 1.125;  // scores: 0 +- 1.5
    problem.lse.push_back(static_cast<float>(about + rng.uniform(0, 0.5)));
  }
}

/// A problem whose arrays are still to be filled.
Problem hollow_problem(const Sizes& sizes) {
  Rng unused(0);
  Sizes empty = sizes;
  empty.batch = 0;
  Problem problem = random_problem(unused, empty);
  problem.form.batch = sizes.batch;
  return problem;
}

/// Inputs of one round, and the judge of its laps.
struct Heat {
  Problem problem;
  Rng sampling{0};

  void prepare(Rng& rng) {
    fill_quickly(problem, rng);
    sampling = Rng(rng());
  }

  std::optional<Miss> miss(const Answer& got) {
    if (auto sampled = sampled_miss(problem, got, sampling, kSampledRows)) return sampled;
    double left = 0, right = 0,
           size = 0;  // every element of dq and dk takes part in <dq,q> = <dk,k>
    for (std::size_t n = 0; n < got.dq.size(); ++n) {
      left += static_cast<double>(got.dq[n]) * problem.q[n];
      size += std::abs(static_cast<double>(got.dq[n]) * problem.q[n]);
    }
    for (std::size_t n = 0; n < got.dk.size(); ++n)
      right += static_cast<double>(got.dk[n]) * problem.k[n];
    if (kit::within(right, left, kIdentity * size)) return std::nullopt;
    return Miss{"<dq, q> against <dk, k>", left, right, kIdentity * size, 1, 1};
  }
};

Lap run_lap(Heat& heat, Session& session, const std::string& case_name) {
  const Asking asking;
  Question question(heat.problem, asking);
  session.run(question.call);
  Lap lap{question.call.elapsed, std::nullopt};
  const auto wrong = [&](std::string summary, std::optional<Miss> miss) {
    lap.finding = Finding{Verdict::wrong, case_name, std::move(summary), {}, std::move(miss)};
    return lap;
  };
  if (question.call.returned != 0)
    return wrong(fmt::format("returned {}, want 0", question.call.returned), std::nullopt);
  if (const auto miss = heat.miss(question.answer())) return wrong(describe(*miss), miss);
  return lap;
}

void race(Probe& probe, const std::string& name, const Sizes& sizes, bool causal) {
  const auto heat = std::make_shared<Heat>();
  heat->problem = hollow_problem(sizes);
  heat->problem.form.causal = causal;
  RaceSpec spec;
  spec.case_name = name;
  spec.floor_flops = 10.0 * static_cast<double>(sizes.dim) *
                     static_cast<double>(visible_pairs(heat->problem.form));
  spec.prepare = [heat](Rng& rng) { heat->prepare(rng); };
  spec.lap = [heat, name](Session& session) { return run_lap(*heat, session, name); };
  RaceBudget budget;
  budget.time = std::chrono::milliseconds(800);
  probe.race(spec, budget);
}

std::int64_t peak_for(Probe& probe, Rng& rng, const Sizes& sizes) {
  Problem problem = hollow_problem(sizes);
  fill_quickly(problem, rng);
  const Asking asking;
  Question question(problem, asking);
  question.call.measure_memory = true;
  probe.run_ok(question.call);
  const Answer got = question.answer(probe);
  Rng sampling(rng());
  probe.require(sampled_miss(problem, got, sampling, kSampledRows));
  if (!question.call.peak_bytes) probe.unmeasured("this machine does not tell peak memory");
  return *question.call.peak_bytes;
}

constexpr double kMiB = 1 << 20;

}  // namespace

// Twice the length may take twice the scratch memory, not four times.
void memory_slope(Probe& probe) {
  Rng rng = probe.begin_case("length doubled");
  const std::int64_t length = rng.integer(1450, 1550);
  const auto once = static_cast<double>(peak_for(probe, rng, {1, 1, 1, length, length, 8, 8}));
  const auto twice =
      static_cast<double>(peak_for(probe, rng, {1, 1, 1, 2 * length, 2 * length, 8, 8}));
  probe.fact("peak memory", twice / kMiB, "MiB");
  const double allowed = 2.3 * once + kMiB;  // a MiB for stacks and the allocator
  if (!(twice <= allowed))
    probe.fail(
        fmt::format("{:.1f} MiB at {} queries and keys, {:.1f} MiB at twice as many; allowed "
                    "are {:.1f}",
                    once / kMiB, length, twice / kMiB, allowed / kMiB));
}

// The contract's own limit. Half of the scores would already break it, in float32.
void memory_limit(Probe& probe) {
  Rng rng = probe.begin_case("16 MiB and eight times the results");
  const Sizes sizes{1, 1, 1, rng.integer(1900, 2000), rng.integer(4900, 5000), 8, 8};
  const double results = 4.0 * static_cast<double>(sizes.q_len * sizes.dim +
                                                   sizes.k_len * (sizes.dim + sizes.value_dim));
  const auto peak = static_cast<double>(peak_for(probe, rng, sizes));
  const double allowed = 16 * kMiB + 8 * results;
  if (!(peak <= allowed))
    probe.fail(fmt::format("{:.1f} MiB; allowed are {:.1f}", peak / kMiB, allowed / kMiB));
}

void speed_full(Probe& probe) {
  race(probe, "2048 x 2048, dim 64", {1, 1, 1, 2048, 2048, 64, 64}, false);
}

void speed_causal(Probe& probe) {
  race(probe, "2048 x 2048, dim 128, causal", {1, 1, 1, 2048, 2048, 128, 128}, true);
}

void speed_grouped(Probe& probe) {
  race(probe, "512 x 512, dim 64, causal, heads 8/2, batch 2", {2, 8, 2, 512, 512, 64, 64}, true);
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
