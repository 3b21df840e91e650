// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/finding.h"
#include "harness/core/rng.h"
#include "harness/measure/race.h"
#include "harness/store/observation.h"
#include "harness/worker/session.h"

namespace gauntlet {

/// The hands of one check: it makes inputs, calls the solution and states what it saw. One probe
/// serves one check of one solution; the solution's process is fresh when the check starts.
class Probe {
 public:
  /// Who is asked and where. The reference is started when it is first used.
  struct Setting {
    Session& solution;
    bool audit = false;                        // see CellRequest
    std::function<Session&()> reference = {};  // empty: speed is not measured in this run
    std::function<Session&()> reference_again = {};
    std::chrono::nanoseconds* race_reserve = nullptr;  // see RaceBudget::reserve
    std::optional<int> race_pairs = {};  // that many, and no speed: to see what laps are given
    std::function<void()> take_machine = {};
    std::function<void(const std::string&)> say = {};
    std::string size = {};  // of the challenge; empty: the standard one
    std::filesystem::path challenge_folder = {};
    std::vector<std::int64_t> named_numbers = {};
  };

  /// A prime, since checks go through rounds of several calls.
  static constexpr std::uint64_t kSomeCalls = 17;

  /// Scratch memory that is kept grows in the first calls, and what malloc has for a thread when
  /// that first gets some of the work, by chance: more calls than few threads are.
  static constexpr int kGrowing = 16;
  static constexpr int kMostGrowing = 256;  // by whatever

  /// One in so many calls is made again although malloc had no more in use behind it than before: a
  /// prime, too.
  static constexpr std::uint64_t kAgainAnyway = 5;

  Probe(CheckInfo info, const Seed& run_seed, Setting setting);

  /// Names the input that is being tried, for findings, and gives its random stream: same run seed,
  /// check and case name, same numbers. Counts as one case.
  Rng begin_case(std::string case_name);

  /// Numbers that every check of this run draws alike: same run seed and name, same numbers. For
  /// work that several checks look at.
  Rng common_stream(std::string_view name) const;

  /// Which of the sizes in challenge.yaml is asked for; empty: the standard one.
  const std::string& size() const { return setting_.size; }

  /// challenges/<id>, for the data that a challenge comes with.
  const std::filesystem::path& challenge_folder() const { return setting_.challenge_folder; }

  /// What the solution's sources name, see named_numbers(): sizes at which it may go another way.
  const std::vector<std::int64_t>& named_numbers() const { return setting_.named_numbers; }

  /// True when mutants and honest variants are tried: a hundred solutions have to be through in
  /// minutes, so a check that needs long runs asks its question of shorter ones.
  bool audit() const { return setting_.audit; }

  /// From here to the end of the check no other cell runs: for calls whose result depends on how
  /// much of the machine they get. Races do this by themselves.
  void take_machine();

  /// Shows how a long call is getting on: "step 120, 4.21 nats". Recorded nowhere.
  void say(const std::string& text);

  /// Runs one call; `returned` is left to the check to judge. A crash, hang or breach ends the
  /// check with the verdict it deserves.
  void run(CallBase& call);

  /// Runs one call that must return `want`.
  void run_for(CallBase& call, std::int64_t want);
  void run_ok(CallBase& call) { run_for(call, 0); }

  /// From here on, one in `every` calls is made three times: as it is, then with other float
  /// controls (CallBase::unusual_floats and zero_subnormals), then as it is again, which is judged.
  /// The first is there because threads that a solution starts and keeps inherit the controls. A
  /// call with callbacks is left alone unless it has to be refused: who answers may count the
  /// questions.
  void ask_with_unusual_floats(std::uint64_t every = kSomeCalls) { unusual_every_ = every; }

  /// From here on, a call without callbacks is made again until malloc has no more in use than
  /// before, an even number of times: where that grew in the first one or nobody knows whether, and
  /// one in kAgainAnyway. What grows by as much in kGrowing calls, one after the other, was
  /// forgotten. What is judged is the first of them.
  void ask_until_freed() { until_freed_ = true; }

  /// Throws away the solution's process: the next call meets a fresh one.
  void restart();

  /// The solution's session, for helpers that take one.
  Session& solution() { return setting_.solution; }

  /// Ends the check: the current case does not hold.
  [[noreturn]] void fail(std::string summary, std::vector<std::string> evidence = {});
  [[noreturn]] void fail(const Miss& miss, std::vector<std::string> evidence = {});
  void require(bool holds, std::string_view otherwise);
  void require(const std::optional<Miss>& miss);  // passes when there is none

  /// Ends the check as unmeasured: the question cannot be asked here.
  [[noreturn]] void unmeasured(std::string reason);

  /// For checks that grade by degree: the share of the check's points, 0..1. Repeated calls keep
  /// the lowest. A check that never calls this and never fails has earned 1.
  void earn(double share);

  /// Records a measured quantity for the reports. A repeated name keeps the last value.
  void fact(std::string name, double value, std::string unit);

  /// The same for a quantity of which submissions may claim something; `range` is what it was over
  /// the inputs that were tried.
  void answer(ClaimKind kind, std::string name, double value, std::string unit,
              std::optional<Interval> range = {});

  /// Records what a call of size N took besides the caller's arrays; sizes ascend. Recorded before
  /// it is judged, so that what fails for its memory is known by its figures.
  void workspace_at(std::string axis, double size, double mib);

  /// Records something to look at, and something to draw, for the reports. Of a long curve, whose
  /// length may be the solution's choice, every so many-th point is kept.
  void exhibit(Exhibit exhibit);
  void curve(Curve curve);

  /// Races the solution against the reference and records the speed; a wrong lap ends the check.
  /// So does a time that beats physics: were it only unmeasured, one such case would take all slow
  /// ones out of the grade. Ends the check as unmeasured when this run has no reference.
  void race(const RaceSpec& spec, RaceBudget budget = {});

  /// The input that is being tried; empty before the first.
  const std::string& case_name() const { return case_name_; }

  /// What the check has said so far; the engine turns it into the check's observation.
  const CheckObservation& observation() const { return observation_; }
  CheckObservation& observation() { return observation_; }

 private:
  void run_once(CallBase& call, bool again = false);
  void run_until_freed(CallBase& call);
  void require_freed(CallBase& call);
  void require_returned(const CallBase& call, std::int64_t want);
  void run_with_unusual_floats(CallBase& call, std::optional<std::int64_t> want);
  void record(Fact fact);
  Seed begin(std::string case_name);

  CheckObservation observation_;
  Seed run_seed_;
  Seed check_seed_;
  Setting setting_;
  std::string case_name_;
  std::uint64_t unusual_every_ = 0;  // none
  std::uint64_t calls_ = 0;
  bool until_freed_ = false;
  std::uint64_t measured_calls_ = 0;
  std::optional<std::int64_t> heap_bytes_;  // behind the last call of this process, where it told
};

/// Thrown by Probe::fail and Probe::unmeasured; caught by the engine, never by a check.
struct CheckEnded {
  Finding finding;
};

}  // namespace gauntlet
