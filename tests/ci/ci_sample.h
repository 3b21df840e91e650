// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/ci/ci_run.h"
#include "tests/store/sample.h"

namespace gauntlet::sample {

/// What a stranger would write who wants to be read as markup, as a command or as an end of ours.
inline const std::string kHostile =
    "</testcase>]]> | `x` <b> @all #1 ::error::no\x1b[31m \xff \xEF\xBF\xBF & \"q\" %0A\n::error "
    "file=a::forged\n##[error]forged\r::notice::forged";

inline Rubric rubric() {
  return load_rubric(std::filesystem::path(GAUNTLET_ROOT) / "harness" / "score" / "rubric.yaml");
}

/// A cell of `bravo` in a run, its checks being correctness unless they say otherwise.
inline CiCell ci_cell(std::vector<CheckObservation> checks, const std::string& digest = "now") {
  CiCell one;
  one.seen = cell();
  one.seen.checks = std::move(checks);
  one.seen.provenance.submission_digest = digest;
  one.score = score_cell(rubric(), one.seen);
  one.folder = "submissions/bravo/first";
  one.files = {"solution.cpp", "detail/tiles.h"};
  return one;
}

/// The same with a baseline.
inline CiCell ci_cell_after(std::vector<CheckObservation> before,
                            std::vector<CheckObservation> now) {
  CiCell one = ci_cell(std::move(now));
  const CiCell old = ci_cell(std::move(before), "then");
  one.before = ScoredCell{old.seen, old.score};
  return one;
}

/// Ours or the machine's: it blames nobody.
inline CheckObservation not_asked(const std::string& id, Verdict verdict) {
  return failed(id, Severity::minor, verdict);
}

inline CiRun ci_run(std::vector<CiCell> cells) {
  CiRun run;
  run.rubric = rubric();
  run.version = "0.1.0";
  run.base = "main";
  run.base_id = std::string(40, 'a');
  run.baseline = "reports/data of main";
  run.submissions.resize(1);
  run.submissions[0].changed.name = "bravo";
  run.cells = std::move(cells);
  return run;
}

}  // namespace gauntlet::sample
