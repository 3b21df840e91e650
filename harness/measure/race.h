// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "harness/core/finding.h"
#include "harness/core/rng.h"
#include "harness/store/observation.h"
#include "harness/worker/session.h"

namespace gauntlet {

/// One timed step of one contestant: how long the parent saw it take, and what was wrong with its
/// output if anything was.
struct Lap {
  std::chrono::nanoseconds elapsed{};
  std::optional<Finding> finding;
  /// Judges all that the lap wrote, where `finding` comes of a sample. It keeps the outputs; the
  /// input has to be prepared again before. Empty when everything was judged.
  std::function<std::optional<Finding>()> judge_all = {};
};

/// A speed question. Everyone gets the same fresh input in a round; the order within a round is
/// random, nobody is told how many rounds there are, and every lap's output is verified. A sample
/// of it may do, because the one lap that becomes the solution's time is judged in full at the end.
struct RaceSpec {
  std::string case_name;
  double floor_bytes =
      0;  // least memory traffic that any solution needs, per lap; 0: no such bound
  double floor_flops = 0;  // least floating-point work, per lap; 0: no such bound
  double input_bytes = 0;  // one pass over the main input, for claims on passes; 0: none is named
  /// Makes the round's input, wholly new; called once a round, before the laps, and once more with
  /// the streams of the solution's fastest one, which give the same again. What is judged of
  /// the laps is drawn from a stream of its own, so that no input says which rows are looked at.
  std::function<void(Rng& inputs, Rng& judge)> prepare;
  /// Runs the contestant once on that input and verifies what it wrote.
  std::function<Lap(Session&)> lap;
};

/// Rounds are added until the interval of the ratio is `fine` (high / low) or the time is up. What
/// is not clear by then gets more time, unless the whole interval lies below `hopeless`, where no
/// rubric of ours gives points. A round in which more than `others` of the processors' time went to
/// other programs, or to neighbours of a virtual machine, does not count. That is looked at where
/// the solution does not run: while its input is made and while the reference has its laps, which
/// meet what else the machine does as often. A race with few other rounds is unmeasured when the
/// machine is as busy without the solution's process; if not, all its rounds count from then on.
struct RaceBudget {
  int min_rounds = 12;
  int max_rounds = 41;
  std::chrono::milliseconds time{1200};
  double fine = 1.04;
  double hopeless = 0.125;
  double others = 0.1;
};

/// What this machine can do at best, measured by ourselves in the same run.
struct Ceilings {
  double copy_gb_per_s = 0;    // bytes read plus bytes written, all cores
  double fma_gflop_per_s = 0;  // float32, all cores; 2 per fused multiply-add
};

const Ceilings& ceilings();  // measured at the first call of the process, about 0.3 s

/// Measures again and keeps what is higher.
const Ceilings& raise_ceilings();

struct RaceResult {
  SpeedMeasurement speed;          // empty when there is a finding
  std::optional<Finding> finding;  // the first wrong lap, or that the machine was too busy
};

/// True when a lap of this length cannot have done the work. What does not fit into the last-level
/// cache has to cross the memory bus, which is at most 1.5 times as fast as the bytes that a copy
/// counts (a store that allocates its line reads it first: three bytes move for two counted); and
/// nothing computes faster than the FMA peak. The ceilings get 7 and 10 % for their own noise.
bool beats_physics(const RaceSpec& spec, double lap_ns, const Ceilings& machine);

/// True when a lap beats the machine as it is known and as twelve further looks find it. Beside
/// other programs a ceiling is found too low: it takes a moment in which all cores are ours, and a
/// solution must not fail for a machine that was only busy. `look` is raise_ceilings.
bool beats_every_look(const RaceSpec& spec, double lap_ns, const Ceilings& known,
                      const std::function<Ceilings()>& look);

/// Races the solution against the reference, and the reference against a second copy of itself for
/// the noise floor. Throws Broken when the reference fails or is wrong.
RaceResult race(const RaceSpec& spec, const RaceBudget& budget, const Seed& secret,
                Session& solution, Session& reference, Session& reference_again);

}  // namespace gauntlet
