// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "harness/core/finding.h"
#include "harness/core/rng.h"
#include "harness/measure/ceilings.h"
#include "harness/store/observation.h"
#include "harness/worker/session.h"

namespace gauntlet {

/// One timed step of one contestant: how long the parent saw it take, and what was wrong with its
/// output if anything was.
struct Lap {
  std::chrono::nanoseconds elapsed{};
  std::optional<Finding> finding;
  /// Judges all that the lap wrote, where `finding` comes of a sample: to be asked, if at all,
  /// before anybody's next lap, while outputs and inputs are still there. Empty when everything was
  /// judged.
  std::function<std::optional<Finding>()> judge_all = {};
  std::chrono::nanoseconds processor{};  // that the contestant used
  std::chrono::nanoseconds lost{};       // that other programs had of the processors meanwhile

  /// Adds the time of a call that counts.
  void took(const CallBase& call);
};

/// A speed question. Everyone gets the same fresh input in a round, in the same pages; nobody is
/// told who comes first or how many rounds there are, and every lap's output is verified. A sample
/// of it may do, because laps that nobody can foresee are judged in full: see FullLooks.
struct RaceSpec {
  std::string case_name;
  double floor_bytes =
      0;  // least memory traffic that any solution needs, per lap; 0: no such bound
  double floor_flops = 0;    // least floating-point work, per lap; 0: no such bound
  double input_bytes = 0;    // one pass over the main input, for claims on passes; 0: none is named
  double floor_written = 0;  // of floor_bytes, what is stored
  /// Makes the round's input, wholly new; called once a round, before the laps. What is judged of
  /// the laps is drawn from a stream of its own, so that no input says which rows are looked at.
  std::function<void(Rng& inputs, Rng& judge)> prepare;
  /// Runs the contestant once on that input and verifies what it wrote.
  std::function<Lap(Session&)> lap;
};

/// A round gives one pair of laps, of the solution and of the reference. Rounds are added until the
/// time is up; earlier if the interval of the ratio is `fine` (high / low) at one of the looks,
/// which are few, at numbers of pairs that double, as every look is a chance to stop by accident.
/// What is neither `clear` nor wholly below `hopeless` or above `beaten`, where no rubric of ours
/// gives points or gives more of them, goes on for at most a quarter of what is left of `reserve`,
/// which all races of a cell share. A tenth is 1.15 of the 25 points of performance, from end to
/// end: log2(1.1) of three octaves, were a race all that they are given for. Most cells have
/// several.
///
/// A pair does not count when other programs, or neighbours of a virtual machine, had more than
/// `others` of the processors during either of its laps; it is repeated. That holds for both laps
/// alike, or the one that is watched less would seem slower. So that nobody chooses which of his
/// laps count, all pairs do when the solution's laps are disturbed more often than those of the
/// reference. A race that ends with too few pairs that count is unmeasured if the machine is as
/// busy without the solution's process; if not, all of them count.
struct RaceBudget {
  int min_pairs = 12;
  int max_pairs = 384;
  std::chrono::milliseconds time{1000};
  double fine = 1.015;
  double clear = 1.1;
  double hopeless = 0.125;
  double beaten = 1.05;
  double others = 0.1;
  std::chrono::nanoseconds* reserve = nullptr;  // borrowed; none: there is none
};

/// An interval that spans more than this factor says nothing: the race is unmeasured.
inline constexpr double kSaysNothing = 2;

struct RaceResult {
  SpeedMeasurement speed;          // empty when there is a finding
  std::optional<Finding> finding;  // the first wrong lap, or that the machine was too busy
};

/// What a lap takes at best; 0 without a bound.
double least_ns(const RaceSpec& spec, const Ceilings& machine);

/// True when a lap of this length cannot have done the work. What does not fit into the last-level
/// cache has to cross the memory bus, read or written, whichever is faster; and nothing computes
/// faster than the FMA peak. The ceilings get 25 and 10 % for their own noise and for access
/// patterns that suit the machine better than ours.
bool beats_physics(const RaceSpec& spec, double lap_ns, const Ceilings& machine);

/// True when a lap beats the machine as it is known and as twelve further looks find it. Beside
/// other programs a ceiling is found too low: it takes a moment in which all cores are ours, and a
/// solution must not fail for a machine that was only busy. `look` is raise_ceilings.
bool beats_every_look(const RaceSpec& spec, double lap_ns, const Ceilings& known,
                      const std::function<Ceilings()>& look);

/// Races the solution against the reference, in processes that are new after every 32 rounds, and
/// the reference against a second copy of itself for the noise floor, for which every fourth round
/// is enough where there are many; the copy has a lap in the round before as well, as the others
/// have. Throws Broken when the reference fails or is wrong.
RaceResult race(const RaceSpec& spec, const RaceBudget& budget, const Seed& secret,
                Session& solution, Session& reference, Session& reference_again);

}  // namespace gauntlet
