// SPDX-License-Identifier: Apache-2.0
#include "harness/ci/ci_run.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/core/error.h"

namespace gauntlet {
namespace {

int count_gates(const CiRun& run, GateOutcome outcome) {
  return static_cast<int>(std::count_if(run.gates.begin(), run.gates.end(),
                                        [&](const auto& gate) { return gate.outcome == outcome; }));
}

std::string counted(int number, const char* one, const char* many) {
  return fmt::format("{} {}", number, number == 1 ? one : many);
}

}  // namespace

bool is_broken(const CellScore& score) {
  return score.broken > 0 || score.status == CellStatus::broken;
}

int CiRun::invalid() const {
  return static_cast<int>(std::count_if(submissions.begin(), submissions.end(),
                                        [](const auto& one) { return !one.problems.empty(); }));
}

int CiRun::broken() const {
  return static_cast<int>(std::count_if(cells.begin(), cells.end(),
                                        [](const auto& cell) { return is_broken(cell.score); }));
}

int CiRun::failed() const {
  return count_gates(*this, GateOutcome::failed);
}

int CiRun::lacking() const {
  return count_gates(*this, GateOutcome::unanswered);
}

std::string CiRun::verdict() const {
  if (submissions.empty())
    return outside > 0 ? fmt::format("no submission changed; {} elsewhere {} nothing",
                                     counted(outside, "changed file", "changed files"),
                                     outside == 1 ? "grades" : "grade")
                       : "no submission changed";
  std::string text = counted(static_cast<int>(cells.size()), "solution graded", "solutions graded");
  if (invalid() > 0)
    text += ", " + counted(invalid(), "submission is invalid", "submissions are invalid");
  if (!fault.empty())
    text += ", the grader could not work here: no fault of a submission";
  else if (broken() > 0)
    text += ", " + counted(broken(), "was", "were") +
            " left incomplete by the grader: no fault of a submission";
  if (failed() > 0) text += ", " + counted(failed(), "gate failed", "gates failed");
  if (lacking() > 0) text += ", " + counted(lacking(), "gate has", "gates have") + " no answer";
  if (failed() == 0 && lacking() == 0 && !gates.empty()) text += ", no gate failed";
  return text;
}

int exit_code_of(const CiRun& run) {
  if (run.invalid() > 0) return kExitInvalidSubmission;
  if (!run.fault.empty() || run.broken() > 0 || run.lacking() > 0) return kExitIncomplete;
  return run.failed() > 0 ? kExitGateFailed : kExitDone;
}

}  // namespace gauntlet
