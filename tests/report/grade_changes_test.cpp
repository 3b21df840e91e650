// SPDX-License-Identifier: Apache-2.0
#include "harness/report/model/grade_changes.h"

#include <doctest/doctest.h>

#include "harness/report/model/aggregate.h"
#include "tests/report/demo.h"

using namespace gauntlet;

namespace {

std::vector<PublishedCell> published() {
  const ReportInput input = demo::input();
  std::vector<PublishedCell> cells;
  for (const auto& cell : input.cells)
    cells.push_back({cell, published_grade(input.rubric, cell), input.rubric.digest, "", ""});
  return cells;
}

std::vector<LedgerEntry> replaced(const ReportInput& now) {
  return grade_changes(published(), now, "2026-05-01T00:00:00Z");
}

}  // namespace

TEST_CASE("nothing was replaced where nothing changed, nor by a second run with the same grade") {
  CHECK(replaced(demo::input()).empty());
  ReportInput again = demo::input();
  again.cells[0].seed = 7;
  CHECK(replaced(again).empty());
}

TEST_CASE("a replaced grade tells what is different about the later result") {
  ReportInput now = demo::input();
  now.cells[0] = demo::good("alpha", "first", 0.4);
  now.cells[0].provenance.grader_digest = "another";
  now.cells[0].provenance.cpu = "Another CPU";
  const auto entries = replaced(now);
  REQUIRE(entries.size() == 1);
  CHECK(entries[0].submission == "alpha");
  CHECK(entries[0].before == "A 100");
  CHECK(entries[0].after == "B+ 89");
  CHECK(entries[0].when == "2020-04-03T09:12:44Z");
  CHECK(entries[0].because == std::vector<std::string>{"another grader", "another machine"});
}

TEST_CASE("another solution is told even when its grade is the same") {
  ReportInput now = demo::input();
  now.cells[0].provenance.submission_digest = "another";
  const auto entries = replaced(now);
  REQUIRE(entries.size() == 1);
  CHECK(entries[0].because == std::vector<std::string>{"another solution"});
}

TEST_CASE("a changed rubric and a withdrawn result are told with the day") {
  ReportInput now = demo::input();
  now.rubric.digest = "another";
  now.rubric.caps[static_cast<std::size_t>(Severity::critical)] = 69;
  const auto entries = replaced(now);
  REQUIRE(entries.size() == 1);
  CHECK(entries[0].before == "C+ 79");
  CHECK(entries[0].after == "D 69");
  CHECK(entries[0].when == "2026-05-01T00:00:00Z");
  CHECK(entries[0].because == std::vector<std::string>{"another rubric"});
  ReportInput fewer = demo::input();
  fewer.cells.erase(fewer.cells.begin());
  REQUIRE(replaced(fewer).size() == 1);
  CHECK(replaced(fewer)[0].after == "withdrawn");
}

TEST_CASE("who was taken out of the published grades is withdrawn, with the grade of the data") {
  auto before = published();
  before[0].grade = "";
  ReportInput now = demo::input();
  now.cells.erase(now.cells.begin());
  const auto entries = grade_changes(before, now, "2026-05-01T00:00:00Z");
  REQUIRE(entries.size() == 1);
  CHECK(entries[0].before == "A 100");
  CHECK(entries[0].after == "withdrawn");
}
