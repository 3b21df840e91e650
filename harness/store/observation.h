// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/cell_key.h"
#include "harness/core/check.h"
#include "harness/core/finding.h"
#include "harness/core/seed.h"
#include "harness/core/stated_claim.h"
#include "harness/core/stats.h"
#include "harness/core/verdict.h"

namespace gauntlet {

/// Speed of a solution against the reference on one input shape, both measured in the same run.
/// Times are medians of laps; the ratio is the median of those of pairs, reference / solution, so
/// that larger is faster. `low` and `high` bound its 99 % interval. (In observations that have no
/// read_gb_per_s they are of fastest laps, and 95 %.)
struct SpeedMeasurement {
  std::string case_name;
  int rounds = 0;  // pairs of laps
  double solution_ns = 0;
  double reference_ns = 0;
  double ratio = 0;
  double low = 0;
  double high = 0;
  double noise_low = 0;  // the same interval for the reference against itself: the noise floor
  double noise_high = 0;
  std::optional<double> ceiling_share;  // of the machine's ceiling, 0..1
  std::optional<double> reference_ceiling_share;
  double floor_bytes = 0;  // least work of a lap, see RaceSpec; 0: no such bound
  double floor_flops = 0;
  double input_bytes = 0;                      // one pass over the main input; 0: none is named
  std::optional<double> processor_ratio = {};  // the same of processor time: shown, never scored
};

/// A measured quantity that a report may print: {"saved bytes per row", 8, "B"}.
struct Fact {
  std::string name;
  double value = 0;
  std::string unit;
  std::optional<ClaimKind> answers = {};  // what a submission may have claimed of it
  std::optional<Interval> range = {};     // over the inputs that were tried
};

/// What a solution costs at growing sizes of its input, along the axis that its grader calls N.
struct Growth {
  std::string axis;                               // "rows"
  std::vector<std::pair<double, double>> points;  // size, cost (ns or MiB); sizes ascending
  std::string fault;  // what ended the measurement before its last size; usually empty
};

/// Something to look at that no number holds: a text that a model wrote.
struct Exhibit {
  std::string title;
  std::vector<std::string> lines;  // from the submission: as hostile as anything of its
};

/// A quantity over another one, to be drawn: the loss over the time of a training run.
struct Curve {
  std::string title;
  std::string x;  // names of the axes, with their units: "seconds"
  std::string y;
  std::vector<std::pair<double, double>> points;  // x ascending
};

/// Everything one check saw. `earned` is the share of the check's points, 0..1, before the rubric
/// looks at speeds: 1 for a check that only asks yes or no and was answered yes.
struct CheckObservation {
  CheckInfo info;
  Verdict verdict = Verdict::broken;
  double earned = 0;
  std::optional<Finding> finding;  // absent exactly when the verdict is passed
  std::vector<SpeedMeasurement> speeds;
  std::vector<Fact> facts;
  std::vector<Exhibit> exhibits;
  std::vector<Curve> curves;
  std::optional<Growth> workspace;  // MiB besides the caller's arrays
  int cases = 0;  // inputs put to the solution; a check that ran none never passes
  double seconds = 0;
};

/// How a solution was built. Absent compiler output means that nothing was said.
struct BuildRecord {
  bool ok = false;
  bool stopped = false;  // by a limit on time or memory: another machine might have finished
  std::string compiler;  // "g++ (Debian 12.2.0-14+deb12u1) 12.2.0"
  std::string flags;
  int warnings = 0;
  std::string messages;  // first lines of what the compiler said, names of ours taken out
  double seconds = 0;
};

/// What a result depends on besides the submission's files.
struct Provenance {
  std::string gauntlet_version;
  std::string grader_digest;      // contract, grader, kit, harness and reference sources
  std::string submission_digest;  // the solution's files
  std::string prompt_digest;      // PROMPT.md and contract.h as they are now
  std::string cpu;
  int cores = 0;
  std::string kernel;
  std::string sandbox;       // the tier that held: "landlock+seccomp+rlimits+uid"
  std::string started;       // UTC, "2026-04-03T09:12:44Z"
  double copy_gb_per_s = 0;  // ceilings measured in this run; 0 when nothing was timed
  double fma_gflop_per_s = 0;
  double cache_bytes = 0;    // of the last-level cache; 0 when the kernel does not say
  double read_gb_per_s = 0;  // further ceilings; 0 in older observations
  double cache_gb_per_s = 0;
  std::string constraint =
      {};  // of the nodes that a cluster might take; empty: none, or no cluster
};

/// One cell of the matrix as it was seen: raw facts only, no score.
struct CellObservation {
  static constexpr int kSchema = 2;

  CellKey key;
  Seed seed;  // drawn after the build; everything random derives from it
  BuildRecord build;
  std::vector<CheckObservation> checks;
  Provenance provenance;
  std::vector<StatedClaim> stated_claims;  // of the solution's claims.yaml
  std::string claims_fault;                // why that file cannot be read; empty when it can
  std::optional<Growth> time_growth;       // ns; asked only of who claims an exponent

  /// Why no receipt vouches for it; empty when one does, or nobody looked. Stands in no file: it is
  /// for whoever loads one to say.
  std::string unproven = {};
};

}  // namespace gauntlet
