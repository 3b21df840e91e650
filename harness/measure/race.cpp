// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/race.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <sys/resource.h>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/machine.h"
#include "harness/core/stats.h"
#include "harness/measure/awake_cores.h"
#include "harness/measure/full_looks.h"
#include "harness/measure/lost_time.h"
#include "harness/measure/paired_ratio.h"

namespace gauntlet {
namespace {

using Clock = std::chrono::steady_clock;

enum Contestant { kSolution, kReference, kReferenceAgain, kContestants };

using Sessions = std::array<Session*, kContestants>;

/// What is kept of a lap. Without one, `ns` is 0.
struct Taken {
  double ns = 0;
  double processor_ns = 0;
  double lost = 0;  // share of the processors' time
};

using Round = std::array<Taken, kContestants>;
using Rounds = std::vector<Round>;

std::vector<double> times(const Rounds& rounds, Contestant whose) {
  std::vector<double> ns;
  for (const Round& round : rounds) ns.push_back(round[whose].ns);
  return ns;
}

/// Logarithms of the pairs' ratios; larger is faster for `whose`.
std::vector<double> logs(const Rounds& rounds, Contestant whose,
                         double Taken::*quantity = &Taken::ns) {
  std::vector<double> all;
  for (const Round& round : rounds)
    if (round[whose].*quantity > 0 && round[kReference].*quantity > 0)
      all.push_back(std::log(round[kReference].*quantity / (round[whose].*quantity)));
  return all;
}

/// Everything, where there are too few pairs for an interval. Those of the copy are few, and most
/// of them four rounds apart.
PairedRatio ratio_of(const Rounds& rounds, Contestant whose) {
  const std::vector<double> all = logs(rounds, whose);
  if (all.size() < kFewestPairs) return {1, {0, std::numeric_limits<double>::infinity()}};
  return paired_ratio(
      all, whose == kReferenceAgain ? Pairs::are_apart : Pairs::resemble_their_neighbours);
}

/// Shares are not printed that no machine has: where a lap is found faster than the ceiling by more
/// than both are known, caches nearer than the last one have served it.
std::optional<double> share(double least, double ns) {
  constexpr double kMost = 1.05;
  if (least <= 0 || least > kMost * ns) return std::nullopt;
  return least / ns;
}

SpeedMeasurement summarise(const RaceSpec& spec, const Rounds& rounds) {
  SpeedMeasurement speed;
  speed.case_name = spec.case_name;
  speed.floor_bytes = spec.floor_bytes;
  speed.floor_flops = spec.floor_flops;
  speed.input_bytes = spec.input_bytes;
  speed.rounds = static_cast<int>(rounds.size());
  speed.solution_ns = quantile(times(rounds, kSolution), 0.5);
  speed.reference_ns = quantile(times(rounds, kReference), 0.5);
  const PairedRatio ratio = ratio_of(rounds, kSolution);
  speed.ratio = ratio.median;
  speed.low = ratio.interval.low;
  speed.high = ratio.interval.high;
  const Interval noise = ratio_of(rounds, kReferenceAgain).interval;
  speed.noise_low = noise.low;
  speed.noise_high = noise.high;
  if (const auto processor = logs(rounds, kSolution, &Taken::processor_ns); !processor.empty())
    speed.processor_ratio = std::exp(quantile(processor, 0.5));
  const double least = least_ns(spec, ceilings());
  speed.ceiling_share = share(least, speed.solution_ns);
  speed.reference_ceiling_share = share(least, speed.reference_ns);
  return speed;
}

/// Runs one lap. What goes wrong with a reference is our fault, not the solution's.
Lap run_lap(const RaceSpec& spec, Contestant contestant, Session& session) {
  if (contestant == kSolution) return spec.lap(session);
  std::string fault;
  try {
    Lap lap = spec.lap(session);
    if (!lap.finding) return lap;
    fault = lap.finding->summary;
  } catch (const SolutionFailure& failure) {
    fault = failure.what();
  }
  throw Broken(OwnFault::own_solution,
               fmt::format("{}: the reference fails: {}", spec.case_name, fault));
}

/// Everybody on the same ground, which the last of them leaves empty.
class Meeting {
 public:
  Meeting(const Sessions& sessions, ClockWatch& watch) : sessions_(sessions) {
    ground_.watch = &watch;
    for (Session* session : sessions_) {
      session->enter_race(ground_);
      session->keep_threads_apart();
    }
  }
  ~Meeting() { leave(); }
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  /// Throws SolutionFailure when somebody has stayed.
  void end() {
    leave();
    ground_.close();
  }

 private:
  void leave() {
    for (Session* session : sessions_) session->leave_race();
  }

  Sessions sessions_;
  RaceGround ground_;
};

/// While it lives, the calling thread and those that it starts get ten times an ordinary program's
/// share of the processors, where the system allows it: what lies between two laps, making inputs
/// and judging outputs, is most of a race, and beside thirty programs nearly all of its time.
class Hurry {
 public:
  Hurry() : before_(getpriority(PRIO_PROCESS, 0)) { setpriority(PRIO_PROCESS, 0, before_ - 10); }
  ~Hurry() { setpriority(PRIO_PROCESS, 0, before_); }
  Hurry(const Hurry&) = delete;
  Hurry& operator=(const Hurry&) = delete;

 private:
  int before_;
};

/// One race on its way.
class Race {
 public:
  Race(const RaceSpec& spec, const RaceBudget& budget, const Seed& secret, const Sessions& sessions)
      : spec_(spec),
        budget_(budget),
        secret_(secret),
        sessions_(sessions),
        lost_time_(awake_, {sessions.begin(), sessions.end()}),
        full_looks_(derive(secret, "laps judged in full")) {}

  RaceResult run() {
    const Hurry hurry;
    Meeting meeting(sessions_, lost_time_);
    if (auto finding = all_rounds()) return {{}, std::move(finding)};
    const Rounds counted = counted_in_the_end();
    meeting.end();
    return result(counted);
  }

 private:
  // Of a process, which pages are its own shows with the first use; a second round finds them all.
  static constexpr int kWarmUps = 2;
  static constexpr int kPairsAProcess = 32;
  static constexpr int kRoundsPerNoise = 4;
  static constexpr int kRacesPerReserve = 4;  // no race leaves those behind it without

  /// The first wrong lap, if any was.
  std::optional<Finding> all_rounds() {
    start_ = Clock::now();
    for (int number = 1; !enough(); ++number) {
      raise_ceilings_now_and_then();
      renew_processes_now_and_then();
      Round round;
      if (auto finding = run_round(number, round)) return finding;
      if (warm_ups_left_ > 0)
        --warm_ups_left_;
      else
        keep(round);
    }
    const auto beyond = Clock::now() - start_ - budget_.time;
    if (budget_.reserve != nullptr && beyond > Clock::duration()) *budget_.reserve -= beyond;
    return std::nullopt;
  }

  /// A process may be slower than its twin for as long as it lives, by 7 to 12 % where both stream
  /// memory beside a third that does. No number of pairs shows that; several processes do (Kalibera
  /// and Jones, Rigorous Benchmarking in Reasonable Time, 2013: repeat on every level that varies).
  void renew_processes_now_and_then() {
    if (all_.size() < next_processes_) return;
    next_processes_ += kPairsAProcess;
    for (Session* session : sessions_) session->restart();
    warm_ups_left_ = kWarmUps;
  }

  /// Laps on a fresh input. Of each two rounds the solution comes before the reference in one.
  std::optional<Finding> run_round(int number, Round& round) {
    const Seed own = derive(secret_, fmt::format("round {}", number));
    Rng inputs(derive(own, "inputs"));
    Rng judge(derive(own, "judge"));
    Rng order(derive(own, "order"));
    spec_.prepare(inputs, judge);
    solution_first_ = number % 2 == 1 ? order.chance(0.5) : !solution_first_;
    std::vector<Contestant> laps{kSolution, kReference};
    if (!solution_first_) std::swap(laps[0], laps[1]);
    // Who rested for a round may be 1.4 times as slow as those who did not: where the reference is
    // to meet itself, both have had a lap in the round before.
    const bool noise = noise_pairs_ < budget_.min_pairs || number % kRoundsPerNoise == 0;
    const bool before_noise = (number + 1) % kRoundsPerNoise == 0;
    if (noise || before_noise || warm_ups_left_ > 0)
      laps.insert(order.chance(0.5) ? laps.begin() : laps.end(), kReferenceAgain);
    for (const Contestant contestant : laps) {
      Lap lap = run_lap(spec_, contestant, *sessions_[contestant]);
      if (contestant != kReferenceAgain || noise) round[contestant] = taken(lap);
      if (contestant == kSolution && warm_ups_left_ == 0) judge_if_wanted(lap);
      if (lap.finding) return std::move(lap.finding);
    }
    return std::nullopt;
  }

  void judge_if_wanted(Lap& lap) {
    judged_by_sample_ = static_cast<bool>(lap.judge_all);
    if (!lap.finding && judged_by_sample_ && full_looks_.wants(taken(lap).ns))
      lap.finding = lap.judge_all();
  }

  static Taken taken(const Lap& lap) {
    const double ns = std::max(1.0, static_cast<double>(lap.elapsed.count()));
    return {ns, static_cast<double>(lap.processor.count()),
            static_cast<double>(lap.lost.count()) / (ns * this_machine().cores)};
  }

  void keep(const Round& round) {
    const auto held_up = [&](Contestant whose) { return round[whose].lost > budget_.others; };
    held_up_ += held_up(kSolution) ? 1 : 0;
    reference_held_up_ += held_up(kReference) ? 1 : 0;
    all_.push_back(round);
    if (held_up(kSolution) || held_up(kReference))
      return disturbed_.count(std::max(round[kSolution].lost, round[kReference].lost));
    quiet_.push_back(round);
    if (held_up(kReferenceAgain)) quiet_.back()[kReferenceAgain] = {};
    noise_pairs_ += quiet_.back()[kReferenceAgain].ns > 0 ? 1 : 0;
  }

  /// The machine meets both alike. Six laps by chance, and four standard deviations.
  bool disturbs_itself() const {
    return held_up_ > reference_held_up_ + 4 * std::sqrt(2 * reference_held_up_) + 6;
  }

  const Rounds& counted() const { return disturbs_itself() ? all_ : quiet_; }

  /// The last word on whether disturbed pairs count.
  Rounds counted_in_the_end() {
    if (static_cast<int>(counted().size()) >= budget_.min_pairs) return counted();
    if (busy_without(*sessions_[kSolution], awake_, budget_.others)) return {};
    return all_;
  }

  bool enough() {
    const auto spent = Clock::now() - start_;
    const Rounds& rounds = counted();
    const int count = static_cast<int>(rounds.size());
    if (all_.empty() || (judged_by_sample_ && full_looks_.looks() < kFewestLooks)) return false;
    if (count >= budget_.max_pairs) return true;
    const auto reserve = budget_.reserve != nullptr ? *budget_.reserve : std::chrono::nanoseconds();
    const bool late = spent >= budget_.time + reserve / kRacesPerReserve;
    if (count < budget_.min_pairs)
      return late && static_cast<int>(all_.size()) >= budget_.min_pairs;
    const bool in_time = spent < budget_.time;
    if (in_time && count < next_stop_) return false;
    while (next_stop_ <= count) next_stop_ *= 2;
    const PairedRatio ratio = ratio_of(rounds, kSolution);
    if (in_time) return ratio.width() <= budget_.fine;
    return late || ratio.width() <= budget_.clear || ratio.interval.high <= budget_.hopeless ||
           ratio.interval.low >= budget_.beaten;
  }

  RaceResult result(const Rounds& rounds) const {
    if (rounds.empty()) return unmeasured(disturbed_.text("pairs of laps"));
    SpeedMeasurement speed = summarise(spec_, rounds);
    const double spread = speed.high / speed.low;
    const double noise = speed.noise_high / speed.noise_low;
    if (speed.high <= budget_.hopeless || (spread <= kSaysNothing && noise <= kSaysNothing))
      return {std::move(speed), std::nullopt};
    return unmeasured(
        noise > kSaysNothing
            ? fmt::format(
                  "the machine was unsteady: {} pairs of laps leave open by which factor up "
                  "to {:.1f} the reference differs from itself",
                  rounds.size(), noise)
            : fmt::format("the solution's laps are unsteady: {} pairs of laps leave open a factor "
                          "of {:.1f}, where the reference is known to {:.0f} %",
                          rounds.size(), spread, 100 * (noise - 1)));
  }

  RaceResult unmeasured(std::string why) const {
    return {{}, Finding{Verdict::unmeasured, spec_.case_name, std::move(why), {}, {}}};
  }

  static constexpr int kFewestLooks = 2;

  const RaceSpec& spec_;
  const RaceBudget& budget_;
  const Seed secret_;
  const Sessions sessions_;
  AwakeCores awake_;
  LostTime lost_time_;
  FullLooks full_looks_;
  Disturbed disturbed_;
  Rounds quiet_;
  Rounds all_;
  int held_up_ = 0;
  int reference_held_up_ = 0;
  int noise_pairs_ = 0;  // among quiet_
  int warm_ups_left_ = kWarmUps;
  std::size_t next_processes_ = kPairsAProcess;  // when there are so many rounds
  int next_stop_ = 24;
  bool solution_first_ = false;
  bool judged_by_sample_ = false;
  Clock::time_point start_;
};

}  // namespace

double least_ns(const RaceSpec& spec, const Ceilings& machine) {
  return least_ns({spec.floor_bytes, spec.floor_written, spec.floor_flops},
                  static_cast<double>(this_machine().cache_bytes), machine);
}

void Lap::took(const CallBase& call) {
  elapsed += call.elapsed;
  processor += call.processor;
  lost += call.lost;
}

bool beats_physics(const RaceSpec& spec, double lap_ns, const Ceilings& machine) {
  const double uncached =
      std::max(0.0, spec.floor_bytes - static_cast<double>(this_machine().cache_bytes));
  return lap_ns * 1.25 < uncached / std::max(machine.read_gb_per_s, machine.copy_gb_per_s) ||
         lap_ns * 1.1 < spec.floor_flops / machine.fma_gflop_per_s;
}

bool beats_every_look(const RaceSpec& spec, double lap_ns, const Ceilings& known,
                      const std::function<Ceilings()>& look) {
  constexpr int kLooks = 12;
  if (!beats_physics(spec, lap_ns, known)) return false;
  for (int i = 0; i < kLooks; ++i)
    if (!beats_physics(spec, lap_ns, look())) return false;
  return true;
}

RaceResult race(const RaceSpec& spec, const RaceBudget& budget, const Seed& secret,
                Session& solution, Session& reference, Session& reference_again) {
  return Race(spec, budget, secret, {&solution, &reference, &reference_again}).run();
}

}  // namespace gauntlet
