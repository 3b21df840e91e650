// SPDX-License-Identifier: Apache-2.0
#include "harness/score/differentiators.h"

#include <doctest/doctest.h>

#include "tests/score/scored.h"

using namespace gauntlet;

namespace {

/// Passes or fails a trap, a check that everybody passes and one that nobody passes; what it earned
/// of a last one is `share`.
CellObservation asked_cell(const std::string& submission, bool passes, double share) {
  CellObservation cell = sample::cell(submission, "one");
  cell.checks = {sample::passed("easy"), sample::failed("impossible"),
                 passes ? sample::passed("trap") : sample::failed("trap"), sample::passed("rest")};
  cell.checks[2].info.severity = Severity::critical;
  cell.checks[2].info.weight = 0.01;  // the cap is what it costs
  cell.checks[1].info.weight = 0.01;
  cell.checks[3].earned = share;
  return cell;
}

CheckSurvey survey(const std::vector<CellObservation>& cells) {
  return survey_checks(rubric(), Board(rubric(), cells, {"one"}), cells);
}

}  // namespace

TEST_CASE("the check that decides is the first, with what would change without it") {
  const auto found = survey({asked_cell("alpha", true, 0.9), asked_cell("bravo", false, 1)});
  REQUIRE(found.differentiators.size() == 2);
  const Differentiator& trap = found.differentiators.front();
  CHECK(trap.check.id == "trap");
  CHECK(trap.passed == 1);
  CHECK(trap.measured == 2);
  CHECK(trap.spread == doctest::Approx(1));
  CHECK(trap.places == 2);  // bravo would be first
  CHECK(trap.winners == 1);
  CHECK(trap.first);
  CHECK(trap.stake > 19);
  CHECK(trap.stake < 21);
}

TEST_CASE("checks that everybody passes are counted, those that nobody passes are named") {
  const auto found = survey({asked_cell("alpha", true, 0.9), asked_cell("bravo", false, 1)});
  CHECK(found.passed_by_all == 1);
  REQUIRE(found.failed_by_all.size() == 1);
  CHECK(found.failed_by_all.front().check.id == "impossible");
}

TEST_CASE("one submission, or the reference beside it, tells nothing") {
  CHECK(survey({asked_cell("alpha", true, 0.9)}).differentiators.empty());
  CHECK(survey({asked_cell("alpha", true, 0.9), asked_cell("reference", false, 1)})
            .differentiators.empty());
}

TEST_CASE("what a check costs is what it would bring alone, its cap included") {
  const CellObservation capped = asked_cell("bravo", false, 1);
  CHECK(points_lost(rubric(), capped, "trap") > 19);
  CHECK(points_lost(rubric(), capped, "easy") == 0);
  CHECK(points_lost(rubric(), capped, "impossible") == 0);  // the cap still holds
}
