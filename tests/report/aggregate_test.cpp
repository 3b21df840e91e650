// SPDX-License-Identifier: Apache-2.0
#include "harness/report/model/aggregate.h"

#include <algorithm>
#include <doctest/doctest.h>

#include "harness/store/json_fields.h"
#include "tests/report/demo.h"

using namespace gauntlet;

TEST_CASE("the aggregate is the same for cells in any order") {
  ReportInput reversed = demo::input();
  std::reverse(reversed.cells.begin(), reversed.cells.end());
  CHECK(document(aggregate(reversed)) == document(aggregate(demo::input())));
}

TEST_CASE("the aggregate knows every cell, and those that are not there") {
  const Aggregate all = aggregate(demo::input());
  for (const auto& cell : demo::input().cells)
    REQUIRE(all.find(cell.key.submission, cell.key.challenge) != nullptr);
  CHECK(all.find("charlie", "second") == nullptr);
  CHECK(all.find("nobody", "first") == nullptr);
}

TEST_CASE("every two submissions are a pair whose record adds up, and the reference is in none") {
  const Aggregate all = aggregate(demo::input());
  CHECK(all.pairs.size() == 6);
  for (const auto& pair : all.pairs) {
    CHECK(pair.first != kReferenceName);
    CHECK(pair.second != kReferenceName);
    const Record& record = pair.record;
    CHECK(record.won + record.lost + record.tied + record.not_comparable == 2);
    CHECK(pair.rows.size() == 2);
  }
}

TEST_CASE("a check tells what it cost, its cap included") {
  const Aggregate all = aggregate(demo::input());
  const ReportedCell& cell = *all.find("bravo", "first");
  REQUIRE(cell.find("offset_ladder") != nullptr);
  CHECK(*cell.score.score == 79);
  CHECK(cell.find("offset_ladder")->lost == doctest::Approx(21));
  CHECK(cell.find("base")->lost == 0);
}

TEST_CASE("a column lists the checks of all its cells, in the order in which they were asked") {
  const Aggregate all = aggregate(demo::input());
  std::vector<std::string> ids;
  for (const CheckInfo& check : all.challenge("first").checks) ids.push_back(check.id);
  CHECK(ids == std::vector<std::string>{"base", "odd_sizes", "speed", "warning_free_build",
                                        "scaled", "long_rows", "zero_rows", "offset_ladder"});
}

TEST_CASE("aggregate.json is one document with its schema") {
  const Json json = document(aggregate(demo::input()));
  CHECK(json["schema"] == "gauntlet.aggregate/1");
  CHECK(json["cells"].size() == demo::input().cells.size());
}
