// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>

#include "harness/core/verdict.h"
#include "harness/worker/call.h"

namespace gauntlet {

/// The solution could not finish a call: it crashed, hung, ate memory or broke the rules. The text
/// says what happened and where, in a sentence a report can print.
struct SolutionFailure : std::runtime_error {
  SolutionFailure(Verdict verdict, const std::string& text)
      : std::runtime_error(text), verdict(verdict) {}
  Verdict verdict;  // wrong (it wrote outside its buffers), crashed .. cheated
};

class Arenas;

/// Told whenever the clock of a call starts and stops: with its release and its confirmed freeze,
/// and around every callback.
class ClockWatch {
 public:
  virtual void starts() = 0;
  virtual std::chrono::nanoseconds stops() = 0;  // what other programs had of the processors since

 protected:
  ~ClockWatch() = default;
};

/// What the contestants of a race have in common, so that none is favoured by where its arrays lie:
/// pages of their own kept one and the same program 5.6 % apart on the average, for a whole race,
/// where its laps are bound by memory. Only one of them runs at a time; the others are frozen.
/// Whoever comes next finds its inputs in the place of the last one's, and poison in the place of
/// what that one wrote.
struct RaceGround {
  std::shared_ptr<Arenas> arenas = {};  // brought by the first contestant that has any
  ClockWatch* watch = nullptr;          // borrowed

  /// To be called when everybody has left: throws SolutionFailure if somebody can still write
  /// there.
  void close();
};

/// How many threads of a solution were at work at the same moment, in calls that were watched for
/// it: at least so many. And for how long, and with how much processor time, it was watched.
struct ThreadUse {
  int at_once = 0;
  std::chrono::nanoseconds elapsed{};
  std::chrono::nanoseconds processor{};
};

/// More than any call has that is asked while teams of so many are offered.
inline constexpr int kOfferedTeam = 300;

class DeviceControl;

/// Somebody who answers calls: a solution in its sandbox, or a null solution that only pretends.
class Session {
 public:
  virtual ~Session() = default;

  /// Runs one call to its end and fills in its results. Throws SolutionFailure, after which the
  /// session must be restarted; throws Broken when the fault is ours.
  virtual void run(CallBase& call) = 0;

  /// The same of a call that was made just now, once more: it asks nothing new.
  virtual void run_again(CallBase& call) { run(call); }

  /// Forgets everything that the solution could remember: the next call meets a fresh process.
  virtual void restart() = 0;

  /// For calls whose time counts: each of them begins with its threads on different cores.
  virtual void keep_threads_apart() {}

  /// From the next restart() on, or no longer, OpenMP makes teams of kOfferedTeam threads of
  /// regions that do not say how many they want, and a call with so many fails. Who leaves
  /// num_threads out shows, however little such a region does, and where the machine has one core.
  virtual void offer_teams(bool /*offered*/) {}

  /// From the next call on it is watched how many threads are at work at once, and end_watch() says
  /// what was seen. `again`: these calls were watched before, and it is the clock that has them
  /// made once more.
  virtual void watch_threads(bool /*again*/) {}
  virtual ThreadUse end_watch() { return {}; }

  /// From the next call on, calls are made in the memory of the race, under its watch, and ahead of
  /// other programs where the system lets us; until leave_race(), or until the ground is gone.
  virtual void enter_race(RaceGround&) {}

  /// Ends the process that was in the race.
  virtual void leave_race() {}

  /// How calls are executed on its device and what was seen there: see
  /// harness/device/device_control.h. Null where there is none, which is on the CPU.
  virtual DeviceControl* device() { return nullptr; }

  /// Processor time that it has used outside of our process.
  virtual std::chrono::nanoseconds cpu_time() const { return {}; }
};

}  // namespace gauntlet
