#include "harness/measure/race.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/stats.h"

namespace gauntlet {
namespace {

enum Lane { kSolution, kReference, kReferenceAgain, kLanes };

struct Round {
  std::array<double, kLanes> ns{};
};

using Rounds = std::vector<Round>;

/// The lower quartile of a contestant's laps. What disturbs a lap (a thread woken on a busy core, a
/// neighbour on the machine) only ever adds time, often in a third of the laps; the quartile stays
/// clear of it where mean and median do not.
double typical_ns(const Rounds& rounds, Lane lane) {
  std::vector<double> ns;
  for (const Round& round : rounds) ns.push_back(round.ns[lane]);
  return quantile(std::move(ns), 0.25);
}

double speed_ratio(const Rounds& rounds, Lane faster_if_larger, Lane slower_if_larger) {
  return typical_ns(rounds, slower_if_larger) / typical_ns(rounds, faster_if_larger);
}

/// 95 % percentile bootstrap over rounds (Efron and Tibshirani 1993, 13.3). Whole rounds are drawn,
/// so that contestants keep the conditions that they shared. The seed is fixed: same laps, same
/// interval.
Interval ratio_interval(const Rounds& rounds, Lane faster_if_larger, Lane slower_if_larger) {
  constexpr int kResamples = 400;
  Rng rng(1);
  std::vector<double> ratios;
  Rounds drawn(rounds.size());
  for (int i = 0; i < kResamples; ++i) {
    for (Round& round : drawn)
      round = rounds[static_cast<std::size_t>(
          rng.integer(0, static_cast<std::int64_t>(rounds.size()) - 1))];
    ratios.push_back(speed_ratio(drawn, faster_if_larger, slower_if_larger));
  }
  return {quantile(ratios, 0.025), quantile(ratios, 0.975)};
}

// What the least work of a lap takes at this machine's best, in nanoseconds; 0 without a bound.
double bytes_ns(const RaceSpec& spec) {
  return spec.floor_bytes > 0 ? spec.floor_bytes / ceilings().copy_gb_per_s : 0;
}
double flops_ns(const RaceSpec& spec) {
  return spec.floor_flops > 0 ? spec.floor_flops / ceilings().fma_gflop_per_s : 0;
}

SpeedMeasurement summarise(const RaceSpec& spec, const Rounds& rounds) {
  SpeedMeasurement speed;
  speed.case_name = spec.case_name;
  speed.rounds = static_cast<int>(rounds.size());
  speed.solution_ns = typical_ns(rounds, kSolution);
  speed.reference_ns = typical_ns(rounds, kReference);
  speed.ratio = speed_ratio(rounds, kSolution, kReference);
  const Interval interval = ratio_interval(rounds, kSolution, kReference);
  speed.low = interval.low;
  speed.high = interval.high;
  const Interval noise = ratio_interval(rounds, kReferenceAgain, kReference);
  speed.noise_low = noise.low;
  speed.noise_high = noise.high;
  if (const double best = std::max(bytes_ns(spec), flops_ns(spec)); best > 0) {
    speed.ceiling_share = best / speed.solution_ns;
    speed.reference_ceiling_share = best / speed.reference_ns;
  }
  return speed;
}

bool is_fine(const Rounds& rounds, double wanted) {
  const Interval interval = ratio_interval(rounds, kSolution, kReference);
  return interval.high <= wanted * interval.low;
}

/// Runs one lap. What goes wrong with a reference is our fault, not the solution's.
Lap run_lap(const RaceSpec& spec, Lane lane, Session& session) {
  if (lane == kSolution) return spec.lap(session);
  std::string fault;
  try {
    Lap lap = spec.lap(session);
    if (!lap.finding) return lap;
    fault = lap.finding->summary;
  } catch (const SolutionFailure& failure) {
    fault = failure.what();
  }
  throw Broken(fmt::format("{}: the reference fails: {}", spec.case_name, fault));
}

}  // namespace

bool beats_physics(const RaceSpec& spec, double lap_ns) {
  return lap_ns * 3 < bytes_ns(spec) || lap_ns * 1.1 < flops_ns(spec);
}

RaceResult race(const RaceSpec& spec, const RaceBudget& budget, Rng rng, Session& solution,
                Session& reference, Session& reference_again) {
  const std::array<Session*, kLanes> sessions{&solution, &reference, &reference_again};
  Rounds rounds;
  const auto start = std::chrono::steady_clock::now();
  for (int index = -1; index < budget.max_rounds; ++index) {  // round -1 warms everybody up
    const bool late = std::chrono::steady_clock::now() - start > budget.time;
    if (index >= budget.min_rounds && (late || is_fine(rounds, budget.fine))) break;
    spec.prepare(rng);
    std::vector<Lane> order{kSolution, kReference, kReferenceAgain};
    rng.shuffle(order);
    Round round;
    for (const Lane lane : order) {
      Lap lap = run_lap(spec, lane, *sessions[lane]);
      if (lap.finding) return {{}, std::move(lap.finding)};
      round.ns[lane] = static_cast<double>(lap.elapsed.count());
    }
    if (index >= 0) rounds.push_back(round);
  }
  return {summarise(spec, rounds), std::nullopt};
}

}  // namespace gauntlet
