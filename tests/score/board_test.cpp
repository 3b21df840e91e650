// SPDX-License-Identifier: Apache-2.0
#include "harness/score/board.h"

#include <doctest/doctest.h>

#include "tests/score/scored.h"

using namespace gauntlet;

namespace {

std::string place(const Board& board, const std::string& submission, const std::string& challenge) {
  const BoardCell* found = board.find(submission, challenge);
  return found && found->placement ? ordinal(*found->placement) : "-";
}

}  // namespace

TEST_CASE("complete submissions come first, best mean first, the reference last") {
  const Board board(rubric(),
                    {cell("alpha", "one", 70), cell("alpha", "two", 80), cell("bravo", "one", 95),
                     cell("delta", "one", 85), cell("delta", "two", 90),
                     cell("reference", "one", 100), cell("reference", "two", 100)},
                    {"one", "two"});
  CHECK(board.submissions() == std::vector<std::string>{"delta", "alpha", "bravo", "reference"});
}

TEST_CASE("the reference takes no place") {
  const Board board(rubric(), {cell("alpha", "one", 70), cell("reference", "one", 100)}, {"one"});
  CHECK(place(board, "alpha", "one") == "1st");
  CHECK(place(board, "reference", "one") == "-");
}

TEST_CASE("a mean counts what was graded, and says of how many") {
  CellObservation ungraded = cell("alpha", "two", 0);
  ungraded.checks = {sample::failed("base", Severity::minor, Verdict::unmeasured)};
  const Board board(rubric(), {cell("alpha", "one", 70), ungraded, cell("alpha", "three", 0)},
                    {"one", "two", "three", "four"});
  const auto mean = board.mean("alpha");
  REQUIRE(mean.has_value());
  CHECK(mean->score == doctest::Approx(70.0 / 3));  // an unmeasured cell may be worth nothing
  CHECK(mean->high == doctest::Approx(170.0 / 3));  // or everything; an absent one does not count
  CHECK(mean->graded == 2);
  CHECK(mean->unmeasured == 1);
  CHECK(mean->partial);
  CHECK(mean->of == 4);
  CHECK_FALSE(board.mean("nobody").has_value());
}

TEST_CASE("devices are never mixed in a mean or in a column of places") {
  const Board board(rubric(),
                    {cell("alpha", "one", 70), cell("alpha@cuda", "two", 90),
                     cell("alpha", "two", 60), cell("bravo", "two", 80)},
                    {"one", "two"});
  CHECK(board.mean("alpha")->score == doctest::Approx(65));
  CHECK(board.mean("alpha@cuda")->score == doctest::Approx(90));
  CHECK(board.mean("alpha@cuda")->graded == 1);
  CHECK(board.mean("alpha@cuda")->of == 1);  // nobody was graded in "one" there
  CHECK(board.mean("bravo")->of == 2);
  CHECK(board.challenges_on(Device::cuda) == std::vector<std::string>{"two"});
  CHECK(place(board, "alpha@cuda", "two") == "1st");
  CHECK(place(board, "bravo", "two") == "1st");
  CHECK(place(board, "alpha", "two") == "2nd");
  CHECK(board.compare("alpha@cuda", "bravo", "two").margin == Margin::not_comparable);
  CHECK(board.compare("alpha@cuda", "alpha", "two").margin == Margin::not_comparable);
}

TEST_CASE("no attempt, device or size of a submission hides another") {
  std::vector<CellObservation> cells;
  const std::vector<std::string> rows{"alpha", "alpha#2", "alpha@cuda", "alpha@cuda#2"};
  for (const auto& row : rows)
    for (const char* column : {"one", "one.large"})
      cells.push_back(cell(row, column, 50.0 + 5 * static_cast<double>(cells.size())));
  const Board board(rubric(), cells, {"one"});
  CHECK(board.submissions() == std::vector<std::string>{"alpha", "alpha@cuda"});
  CHECK(board.attempts("alpha@cuda") == std::vector<std::string>{"alpha@cuda#1", "alpha@cuda#2"});
  CHECK(board.other_sizes() == std::vector<std::string>{"one.large"});
  for (std::size_t i = 0; i < cells.size(); ++i) {
    REQUIRE(board.find(cells[i].key) != nullptr);
    CHECK(*board.find(cells[i].key)->score.score ==
          doctest::Approx(50.0 + 5 * static_cast<double>(i)));
  }
  CHECK(place(board, "alpha", "one") == "1st");  // of its device
  CHECK(place(board, "alpha#2", "one") == "-");
  CHECK(*board.find("alpha", "one.large")->score.score == doctest::Approx(60));
}

TEST_CASE("the reference of any device takes no place and comes last") {
  const Board board(rubric(),
                    {cell("alpha", "one", 70), cell("reference", "one", 100),
                     cell("alpha@cuda", "one", 60), cell("reference@cuda", "one", 100)},
                    {"one"});
  CHECK(board.submissions() ==
        std::vector<std::string>{"alpha", "alpha@cuda", "reference", "reference@cuda"});
  CHECK(place(board, "alpha@cuda", "one") == "1st");
  CHECK(place(board, "reference@cuda", "one") == "-");
}

TEST_CASE("a cell of which something is missing is placed by its low end, above none it meets") {
  CellObservation partial = cell("partial", "one", 99);  // 82.5 to 99.2
  partial.checks.push_back(sample::failed("speed", Severity::minor, Verdict::unmeasured));
  partial.checks[1].info.weight = 0.2;
  CellObservation unbuilt = sample::cell("unbuilt", "one");
  unbuilt.build.ok = false;
  const Board board(
      rubric(), {cell("alpha", "one", 90), cell("bravo", "one", 75), partial, unbuilt}, {"one"});
  CHECK(place(board, "alpha", "one") == "1st=");  // which the other may share
  CHECK(place(board, "partial", "one") == "2nd..1st");
  CHECK(place(board, "bravo", "one") == "3rd");
  CHECK(place(board, "unbuilt", "one") == "4th");
}

TEST_CASE("where all cells lack the same check none is placed above another that it meets") {
  std::vector<CellObservation> cells{cell("alpha", "one", 90), cell("bravo", "one", 80),
                                     cell("charlie", "one", 20)};
  for (auto& one : cells) {
    one.checks.push_back(sample::failed("speed", Severity::minor, Verdict::unmeasured));
    one.checks[1].info.weight = 0.25;  // 72 to 92, 64 to 84, 16 to 36
  }
  const Board board(rubric(), cells, {"one"});
  CHECK(place(board, "alpha", "one") == "2nd..1st");
  CHECK(place(board, "bravo", "one") == "2nd..1st");
  CHECK(place(board, "charlie", "one") == "3rd");
}

TEST_CASE("cells of other graders than most have no place") {
  CellObservation other = cell("charlie", "one", 99);
  other.provenance.grader_digest = "another";
  const Board board(rubric(), {cell("alpha", "one", 90), cell("bravo", "one", 80), other}, {"one"});
  CHECK(place(board, "charlie", "one") == "-");
  CHECK(place(board, "alpha", "one") == "1st");
}

TEST_CASE("a record adds up to the number of challenges") {
  const Board board(rubric(),
                    {cell("alpha", "one", 90), cell("bravo", "one", 80), cell("alpha", "two", 90),
                     cell("bravo", "two", 89), cell("alpha", "three", 50)},
                    {"one", "two", "three", "four"});
  const Record record = board.record("alpha", "bravo");
  CHECK(record.won == 1);
  CHECK(record.tied == 1);
  CHECK(record.lost == 0);
  CHECK(record.not_comparable == 2);
}

TEST_CASE("a challenge that only the results know becomes the last column") {
  const Board board(rubric(), {cell("alpha", "old", 90)}, {"one"});
  CHECK(board.challenges() == std::vector<std::string>{"one", "old"});
}

TEST_CASE("another size has places of its own and counts in no mean and no record") {
  const Board board(rubric(), {cell("bravo", "first", 100), cell("bravo", "first.large", 40)},
                    {"first"});
  CHECK(board.challenges() == std::vector<std::string>{"first"});
  CHECK(board.other_sizes() == std::vector<std::string>{"first.large"});
  CHECK(board.mean("bravo")->score == 100);
  CHECK(board.mean("bravo")->of == 1);
  CHECK(place(board, "bravo", "first.large") == "1st");
}
