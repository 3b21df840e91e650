#include "harness/measure/race.h"

#include <algorithm>
#include <array>
#include <cmath>
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

double log_ratio(const Round& round, Lane numerator, Lane denominator) {
  return std::log(round.ns[numerator] / round.ns[denominator]);
}

std::vector<double> log_ratios(const std::vector<Round>& rounds, Lane numerator, Lane denominator) {
  std::vector<double> logs;
  for (const Round& round : rounds) logs.push_back(log_ratio(round, numerator, denominator));
  return logs;
}

double median_ns(const std::vector<Round>& rounds, Lane lane) {
  std::vector<double> ns;
  for (const Round& round : rounds) ns.push_back(round.ns[lane]);
  return median(ns);
}

// What the least work of a lap takes at this machine's best, in nanoseconds; 0 without a bound.
double bytes_ns(const RaceSpec& spec) {
  return spec.floor_bytes > 0 ? spec.floor_bytes / ceilings().copy_gb_per_s : 0;
}
double flops_ns(const RaceSpec& spec) {
  return spec.floor_flops > 0 ? spec.floor_flops / ceilings().fma_gflop_per_s : 0;
}

SpeedMeasurement summarise(const RaceSpec& spec, const std::vector<Round>& rounds) {
  SpeedMeasurement speed;
  speed.case_name = spec.case_name;
  speed.rounds = static_cast<int>(rounds.size());
  speed.solution_ns = median_ns(rounds, kSolution);
  speed.reference_ns = median_ns(rounds, kReference);
  const auto against_reference = log_ratios(rounds, kReference, kSolution);
  speed.ratio = std::exp(median(against_reference));
  const Interval interval = median_interval95(against_reference);
  speed.low = std::exp(interval.low);
  speed.high = std::exp(interval.high);
  const Interval noise = median_interval95(log_ratios(rounds, kReference, kReferenceAgain));
  speed.noise_low = std::exp(noise.low);
  speed.noise_high = std::exp(noise.high);
  if (const double best = std::max(bytes_ns(spec), flops_ns(spec)); best > 0) {
    speed.ceiling_share = best / speed.solution_ns;
    speed.reference_ceiling_share = best / speed.reference_ns;
  }
  return speed;
}

bool is_fine(const std::vector<Round>& rounds, double wanted) {
  const Interval logs = median_interval95(log_ratios(rounds, kReference, kSolution));
  return logs.high - logs.low <= std::log(wanted);
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
  return lap_ns * 2 < bytes_ns(spec) || lap_ns * 1.1 < flops_ns(spec);
}

RaceResult race(const RaceSpec& spec, const RaceBudget& budget, Rng rng, Session& solution,
                Session& reference, Session& reference_again) {
  const std::array<Session*, kLanes> sessions{&solution, &reference, &reference_again};
  std::vector<Round> rounds;
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
