// SPDX-License-Identifier: Apache-2.0
#include "harness/ci/gates.h"

#include <doctest/doctest.h>

#include "harness/core/error.h"
#include "tests/ci/ci_sample.h"

using namespace gauntlet;
using sample::ci_cell;
using sample::ci_cell_after;
using sample::ci_run;
using sample::failed;
using sample::not_asked;
using sample::passed;
using Kind = BaselineChange::Kind;

namespace {

GateOutcome min_grade(const CiCell& cell, const std::string& word) {
  GateRules rules;
  rules.min_score = score_of_word(sample::rubric(), "--min-grade", word);
  rules.min_word = word;
  const auto answers = ask_gates(rules, ci_run({cell}));
  REQUIRE(answers.size() == 1);
  CHECK_FALSE(answers[0].text.empty());
  return answers[0].outcome;
}

GateOutcome no_regression(const CiCell& cell) {
  const auto answers = ask_gates({std::nullopt, "", true}, ci_run({cell}));
  REQUIRE(answers.size() == 1);
  return answers[0].outcome;
}

Kind change_of(const CiCell& cell) {
  return compare_with_baseline(sample::rubric(), cell).kind;
}

}  // namespace

TEST_CASE("the least grade is asked of the low end of a score") {
  const CiCell half = ci_cell({passed("base"), failed("odd")});
  CHECK(min_grade(half, "50") == GateOutcome::passed);
  CHECK(min_grade(half, "50.5") == GateOutcome::failed);
  CHECK(min_grade(half, "F") == GateOutcome::passed);
  CHECK(min_grade(half, "B+") == GateOutcome::failed);
  const CiCell open = ci_cell({passed("base"), not_asked("gpu", Verdict::unmeasured)});
  REQUIRE(open.score.open());
  CHECK(min_grade(open, "50") == GateOutcome::passed);
  CHECK(min_grade(open, "A") == GateOutcome::failed);
}

TEST_CASE("a grader that broke, or a machine that can ask nothing, fails no gate and opens none") {
  CHECK(min_grade(ci_cell({passed("base"), not_asked("x", Verdict::broken)}), "A") ==
        GateOutcome::unanswered);
  CHECK(min_grade(ci_cell({not_asked("x", Verdict::broken)}), "A") == GateOutcome::unanswered);
  CHECK(min_grade(ci_cell({not_asked("x", Verdict::unmeasured)}), "A") == GateOutcome::unanswered);
  // Whatever the broken check would have said, this is no A.
  CHECK(min_grade(ci_cell({failed("base"), not_asked("x", Verdict::broken)}), "A") ==
        GateOutcome::failed);
}

TEST_CASE("words that are no grade are refused with those that are") {
  CHECK(score_of_word(sample::rubric(), "--min-grade", "A") == 93);
  CHECK(score_of_word(sample::rubric(), "--min-grade", "83.5") == 83.5);
  for (const char* word : {"", "Z", "101", "-1", "nan", "83x"})
    CHECK_THROWS_WITH_AS(score_of_word(sample::rubric(), "--min-grade", word),
                         doctest::Contains("must be a score from 0 to 100 or one of A, A-"),
                         UserError);
}

TEST_CASE("a cell is worse where a check fails that passed, or where its score fell") {
  CHECK(change_of(ci_cell({passed("base")})) == Kind::first_time);
  CHECK(change_of(ci_cell_after({passed("base")}, {passed("base")})) == Kind::same);
  const CiCell lost =
      ci_cell_after({passed("base"), passed("odd")}, {passed("base"), failed("odd")});
  CHECK(change_of(lost) == Kind::worse);
  CHECK(no_regression(lost) == GateOutcome::failed);
  CheckObservation partly = passed("base");
  partly.earned = 0.9;
  CHECK(no_regression(ci_cell_after({passed("base")}, {partly})) == GateOutcome::failed);
  partly.earned = 0.98;  // within the tie band
  CHECK(no_regression(ci_cell_after({passed("base")}, {partly})) == GateOutcome::passed);
  partly.earned = 0.5;
  const CiCell better = ci_cell_after({partly}, {passed("base")});
  CHECK(change_of(better) == Kind::better);
  CHECK(no_regression(better) == GateOutcome::passed);
  // One check is mended and another broken: the score is the same, the submission is not.
  CHECK(change_of(ci_cell_after({passed("a"), failed("b")}, {failed("a"), passed("b")})) ==
        Kind::worse);
}

TEST_CASE("what another grader, the same solution or our own fault brought is no regression") {
  CiCell cell = ci_cell_after({passed("base")}, {failed("base")});
  REQUIRE(no_regression(cell) == GateOutcome::failed);
  cell.seen.provenance.grader_digest = "another";
  CHECK(no_regression(cell) == GateOutcome::incomparable);
  cell = ci_cell_after({passed("base")}, {failed("base")});
  cell.before->seen.provenance.submission_digest = "now";
  CHECK(no_regression(cell) == GateOutcome::incomparable);
  CHECK(no_regression(ci_cell_after({passed("a"), passed("b")},
                                    {passed("a"), not_asked("b", Verdict::broken)})) ==
        GateOutcome::unanswered);
  // On another machine speeds are others, and right answers are not.
  CheckObservation fast = passed("speed", Section::performance);
  CheckObservation slow = failed("speed");
  slow.info.section = Section::performance;
  for (const bool wrong : {false, true}) {
    cell = ci_cell_after({passed("a"), fast}, {wrong ? failed("a") : passed("a"), slow});
    CHECK(no_regression(cell) == GateOutcome::failed);
    cell.seen.provenance.cpu = "Another CPU";
    CHECK(no_regression(cell) == (wrong ? GateOutcome::failed : GateOutcome::incomparable));
  }
  // The low end counts what the machine could not ask as failed.
  CHECK(no_regression(ci_cell_after({passed("a"), passed("b")},
                                    {passed("a"), not_asked("b", Verdict::unmeasured)})) ==
        GateOutcome::failed);
}

TEST_CASE("a solution that is gone fails the gate of a submission that is there") {
  CiRun run = ci_run({});
  run.submissions[0].lost = {CellKey::of("bravo", "second")};
  const auto answers = ask_gates({std::nullopt, "", true}, run);
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].outcome == GateOutcome::failed);
  CHECK(ask_gates({}, run).empty());
}

TEST_CASE("a run ends with the code of the worst that happened, and blames nobody for ours") {
  CiRun run = ci_run({ci_cell({failed("base", Severity::critical)})});
  CHECK(exit_code_of(run) == kExitDone);
  run.gates = {{"min-grade A", run.cells[0].seen.key, "", GateOutcome::failed}};
  CHECK(exit_code_of(run) == kExitGateFailed);
  CHECK(run.verdict() == "1 solution graded, 1 gate failed");
  run.gates[0].outcome = GateOutcome::incomparable;
  CHECK(exit_code_of(run) == kExitDone);
  run.gates[0].outcome = GateOutcome::unanswered;
  CHECK(exit_code_of(run) == kExitIncomplete);
  run.gates.clear();
  run.cells.push_back(ci_cell({not_asked("x", Verdict::broken)}));
  CHECK(exit_code_of(run) == kExitIncomplete);
  CHECK(run.verdict().find("no fault of a submission") != std::string::npos);
  run.submissions[0].problems = {"model.yaml is missing"};
  CHECK(exit_code_of(run) == kExitInvalidSubmission);
  run = ci_run({});
  run.fault = "no compiler";
  CHECK(exit_code_of(run) == kExitIncomplete);
  run = ci_run({});
  run.submissions.clear();
  run.outside = 2;
  CHECK(exit_code_of(run) == kExitDone);
  CHECK(run.verdict() == "no submission changed; 2 changed files elsewhere grade nothing");
}
