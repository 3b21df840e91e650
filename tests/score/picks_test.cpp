// SPDX-License-Identifier: Apache-2.0
#include "harness/score/picks.h"

#include <doctest/doctest.h>

#include "harness/core/error.h"
#include "tests/score/scored.h"

using namespace gauntlet;

namespace {

CellObservation picked_cell(const std::string& submission, const std::string& challenge,
                            double correct, double ratio, bool trapped = false) {
  CellObservation cell = sample::cell(submission, challenge);
  CheckObservation speed = sample::passed("speed", Section::performance);
  speed.speeds.push_back(
      {"a case", 9, 1, 1, ratio, ratio * 0.99, ratio * 1.01, 0.99, 1.01, {}, {}});
  cell.checks = {sample::passed("base"), speed};
  cell.checks[0].earned = correct / 100;
  if (trapped) cell.checks.push_back(sample::failed("trap", Severity::critical));
  if (trapped) cell.checks.back().info.weight = 0.001;
  return cell;
}

std::vector<Need> needs(const std::string& yaml) {
  return needs_from_yaml(yaml, "needs.yaml");
}

std::string complaint(const std::string& yaml) {
  try {
    needs(yaml);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

std::string picked(const std::string& yaml, const std::vector<CellObservation>& cells) {
  const Board board(rubric(), cells, {"one", "two"});
  const auto picks = pick(rubric(), needs(yaml), board, cells, {1, 2});
  return picks.empty() ? "nobody" : picks.front().submission;
}

constexpr const char* kCorrect = "a: {title: A, measure: sections, sections: {correctness: 1}}";

}  // namespace

TEST_CASE("the clearly best is picked, and nobody when the second is near") {
  CHECK(picked(kCorrect, {picked_cell("alpha", "one", 90, 1), picked_cell("alpha", "two", 90, 1),
                          picked_cell("bravo", "one", 80, 1),
                          picked_cell("bravo", "two", 80, 1)}) == "alpha");
  CHECK(picked(kCorrect,
               {picked_cell("alpha", "one", 90, 1), picked_cell("alpha", "two", 90, 1),
                picked_cell("bravo", "one", 88, 1), picked_cell("bravo", "two", 88, 1)}) == "");
}

TEST_CASE("one alone is no choice, and who is not graded everywhere is no candidate") {
  CHECK(picked(kCorrect, {picked_cell("alpha", "one", 90, 1), picked_cell("alpha", "two", 90, 1),
                          picked_cell("bravo", "one", 100, 1)}) == "");
  CHECK(picked(kCorrect, {picked_cell("bravo", "one", 100, 1)}) == "nobody");
}

TEST_CASE("a need may look at some rounds only") {
  const std::vector<CellObservation> cells{
      picked_cell("alpha", "one", 90, 1), picked_cell("alpha", "two", 60, 1),
      picked_cell("bravo", "one", 60, 1), picked_cell("bravo", "two", 90, 1)};
  const auto need = [](int round) {
    return "a: {title: A, measure: sections, sections: {correctness: 1}, rounds: [" +
           std::to_string(round) + "]}";
  };
  CHECK(picked(need(1), cells) == "alpha");
  CHECK(picked(need(2), cells) == "bravo");
}

TEST_CASE("a veto bars who fell into a trap") {
  const std::vector<CellObservation> cells{
      picked_cell("alpha", "one", 100, 1, true), picked_cell("alpha", "two", 100, 1),
      picked_cell("bravo", "one", 80, 1), picked_cell("bravo", "two", 80, 1)};
  CHECK(picked(kCorrect, cells) == "alpha");
  CHECK(picked("a: {title: A, measure: sections, sections: {correctness: 1}, veto: critical}",
               cells) == "bravo");
}

TEST_CASE("the fastest is by geometric mean, and a failed timed check counts as slowest") {
  const char* need = "a: {title: A, measure: speed}";
  CHECK(picked(need, {picked_cell("alpha", "one", 90, 0.9), picked_cell("alpha", "two", 90, 0.4),
                      picked_cell("bravo", "one", 90, 0.5),
                      picked_cell("bravo", "two", 90, 0.5)}) == "alpha");
  CellObservation failed = picked_cell("alpha", "two", 90, 0.9);
  failed.checks[1] = sample::failed("speed");
  failed.checks[1].info.section = Section::performance;
  CHECK(picked(need,
               {picked_cell("alpha", "one", 90, 0.9), failed, picked_cell("bravo", "one", 90, 0.5),
                picked_cell("bravo", "two", 90, 0.5)}) == "bravo");
}

TEST_CASE("the lowest score decides who is reliable, the number of grades who took on most") {
  const std::vector<CellObservation> cells{
      picked_cell("alpha", "one", 100, 1), picked_cell("alpha", "two", 60, 1),
      picked_cell("bravo", "one", 80, 1), picked_cell("bravo", "two", 80, 1),
      picked_cell("charlie", "one", 90, 1)};
  CHECK(picked("a: {title: A, measure: lowest_score}", cells) == "bravo");
  CHECK(picked("a: {title: A, measure: challenges}", cells) == "");
}

TEST_CASE("needs that make no sense are refused with file, line and key") {
  CHECK(complaint(kCorrect) == "");
  CHECK(complaint("a: {title: A, measure: beauty}").find("measure: 'beauty' is no measure") !=
        std::string::npos);
  CHECK(complaint("a: {title: A, measure: sections, sections: {tidiness: 1}}")
            .find("'tidiness' is no section") != std::string::npos);
  CHECK(complaint("a: {title: A, measure: speed, veto: minor}").find("must be 'critical'") !=
        std::string::npos);
  CHECK(complaint("a: {title: A, measure: sections, sections: {}}").find("must name a section") !=
        std::string::npos);
}
