// SPDX-License-Identifier: Apache-2.0
#include "harness/score/ranking.h"

#include <doctest/doctest.h>

#include "tests/score/scored.h"

using namespace gauntlet;

namespace {

/// A cell of half correctness, which is `score`, and half speed, between the two ratios.
CellObservation timed(const std::string& submission, double ratio, double low, double high) {
  CellObservation one = cell(submission, "one", 90);
  CheckObservation speed = sample::passed("speed", Section::performance);
  speed.speeds.push_back({"a case", 9, 1, 1, ratio, low, high, 0.99, 1.01, {}, {}});
  one.checks.push_back(speed);
  return one;
}

std::vector<Ranked> ranks(const std::vector<CellObservation>& cells,
                          const std::vector<std::string>& challenges) {
  return rank_submissions(rubric(), Board(rubric(), cells, challenges));
}

std::string place(const Ranked& ranked) {
  return ranked.place ? ordinal(*ranked.place) : "-";
}

}  // namespace

TEST_CASE("means within the band of the first share its rank, and the next one skips") {
  const auto all = ranks({cell("alpha", "one", 90), cell("bravo", "one", 89.5),
                          cell("charlie", "one", 88.9), cell("reference", "one", 100)},
                         {"one"});
  CHECK(all.size() == 3);
  CHECK(place(of(all, "alpha")) == "1st=");
  CHECK(place(of(all, "bravo")) == "1st=");
  CHECK(place(of(all, "charlie")) == "3rd");
}

TEST_CASE("a mean of which something is missing takes no rank from others, and gets none by it") {
  CellObservation partial = cell("alpha", "one", 90);  // 72 to 92
  partial.checks.push_back(sample::failed("speed", Severity::minor, Verdict::unmeasured));
  partial.checks[1].info.weight = 0.25;
  const auto all = ranks({partial, cell("bravo", "one", 80), cell("charlie", "one", 60)}, {"one"});
  CHECK(place(of(all, "alpha")) == "2nd..1st");
  CHECK(place(of(all, "bravo")) == "1st=");
  CHECK(place(of(all, "charlie")) == "3rd");
}

TEST_CASE("means whose ranges overlap share a rank, however far apart they are") {
  const auto wide = ranks({timed("alpha", 0.9, 0.7, 1.0), timed("bravo", 0.7, 0.6, 0.8)}, {"one"});
  CHECK(of(wide, "alpha").mean->score - of(wide, "bravo").mean->score > 1);
  CHECK(place(of(wide, "bravo")) == "1st=");
  const auto narrow =
      ranks({timed("alpha", 0.9, 0.89, 0.91), timed("bravo", 0.7, 0.69, 0.71)}, {"one"});
  CHECK(place(of(narrow, "bravo")) == "2nd");
}

TEST_CASE("who was not graded everywhere has bounds and possible ranks, but no rank") {
  const auto all =
      ranks({cell("alpha", "one", 90), cell("alpha", "two", 90), cell("bravo", "one", 60),
             cell("bravo", "two", 60), cell("part", "one", 100)},
            {"one", "two"});
  const Ranked& part = of(all, "part");
  CHECK(place(part) == "-");
  CHECK(part.bounds.low == doctest::Approx(50));
  CHECK(part.bounds.high == doctest::Approx(100));
  CHECK(part.best_rank == 1);
  CHECK(part.worst_rank == 3);
  CHECK(of(all, "alpha").best_rank == 1);
  CHECK(of(all, "alpha").worst_rank == 2);
}

TEST_CASE("cells of another grader than most were graded by cost the rank") {
  CellObservation old = cell("old", "one", 95);
  old.provenance.grader_digest = "another";
  const auto all = ranks({cell("alpha", "one", 90), cell("bravo", "one", 80), old}, {"one"});
  CHECK(place(of(all, "old")) == "-");
  CHECK_FALSE(of(all, "old").same_graders);
  CHECK(place(of(all, "alpha")) == "1st");
}

TEST_CASE("devices are ranked apart") {
  const auto all = ranks({cell("alpha", "one", 90), cell("alpha@cuda", "one", 95)}, {"one"});
  CHECK(place(of(all, "alpha@cuda")) == "1st");
  CHECK(of(all, "alpha@cuda").device == Device::cuda);
  CHECK(place(of(all, "alpha")) == "1st");
  CHECK(of(all, "alpha").worst_rank == 1);
}

TEST_CASE(
    "on another device a rank needs what is graded there, by the grader that is usual there") {
  CellObservation cuda = cell("alpha@cuda", "one", 95);
  cuda.provenance.grader_digest = "of kernels";
  const auto all = ranks({cell("alpha", "one", 90), cell("alpha", "two", 90),
                          cell("bravo", "one", 80), cell("bravo", "two", 80), cuda},
                         {"one", "two"});
  CHECK(place(of(all, "alpha@cuda")) == "1st");
  CHECK(of(all, "alpha@cuda").same_graders);
  CHECK(of(all, "alpha@cuda").mean->of == 1);
  CHECK(place(of(all, "alpha")) == "1st");
}

TEST_CASE("attempts of one submission are ranked as one, and push nobody down") {
  const auto all = ranks(
      {cell("alpha", "one", 90), cell("alpha#2", "one", 86), cell("bravo", "one", 80)}, {"one"});
  CHECK(all.size() == 2);
  CHECK(place(of(all, "alpha")) == "1st");
  CHECK(of(all, "alpha").mean->score == doctest::Approx(88));
  CHECK(place(of(all, "bravo")) == "2nd");
}

TEST_CASE("what could not be measured widens the range by all that it could have been") {
  CellObservation partial = cell("alpha", "one", 100);
  partial.checks.push_back(sample::failed("trap", Severity::major, Verdict::unmeasured));
  const Board board(rubric(), {partial}, {"one"});
  const CellScore& score = board.find("alpha", "one")->score;
  CHECK(*score.score == doctest::Approx(50));  // half its section, and the cap is higher
  CHECK(*score.high == 100);
  CHECK(score.range->low == doctest::Approx(50));
  CHECK(score.range->high == 100);
  partial.checks[1].info.weight = 0.1;
  CHECK(score_cell(rubric(), partial).range->low == 89);  // the cap that it might have brought
}

TEST_CASE("a cell that broke counts as nothing in the mean, and costs the rank") {
  CellObservation broken = cell("alpha", "two", 100);
  broken.checks = {sample::failed("base", Severity::critical, Verdict::broken)};
  const auto all =
      ranks({cell("alpha", "one", 90), broken, cell("bravo", "one", 80), cell("bravo", "two", 10)},
            {"one", "two"});
  const Ranked& alpha = of(all, "alpha");
  CHECK(alpha.mean->score == doctest::Approx(45));
  CHECK(alpha.mean->broken == 1);
  CHECK(alpha.mean->partial);
  CHECK(alpha.range.low == doctest::Approx(45));
  CHECK(alpha.range.high == doctest::Approx(95));
  CHECK(place(alpha) == "-");
  const Board board(rubric(), {cell("alpha", "one", 90), broken}, {"one", "two"});
  CHECK(trajectory(board, "alpha", {1, 1})[0].mean->low == doctest::Approx(45));
  CHECK(trajectory(board, "alpha", {1, 1})[0].mean->high == doctest::Approx(95));
}

TEST_CASE(
    "a timed case that was too noisy is worth nothing at the low end and all at the high one") {
  CheckObservation timed = sample::passed("speed", Section::performance);
  timed.speeds.push_back({"quiet", 12, 1, 1, 0.5, 0.5, 0.5, 1, 1, {}, {}});
  timed.speeds.push_back({"ragged", 12, 1, 1, 2.0, 2.0, 2.0, 0.2, 9.0, {}, {}});
  CellObservation noisy = cell("alpha", "one", 100);
  noisy.checks.push_back(timed);
  const CellScore score = score_cell(rubric(), noisy);
  const double whole = 45 + 25;  // both sections' weights; the case earns 2/3 of its own
  CHECK(*score.score == doctest::Approx(100 * (45 + 25 * (2.0 / 3 + 0) / 2) / whole));
  CHECK(*score.high == doctest::Approx(100 * (45 + 25 * (2.0 / 3 + 1) / 2) / whole));
  CHECK(score.range->low == doctest::Approx(100 * (45 + 25 * (2.0 / 3 + 0) / 2) / whole));
  CHECK(score.range->high == doctest::Approx(100 * (45 + 25 * (2.0 / 3 + 1) / 2) / whole));
}

TEST_CASE("a round's mean counts what was graded in it, and none is none") {
  const Board board(rubric(), {cell("alpha", "one", 80), cell("alpha", "two", 90)},
                    {"one", "two", "three"});
  const auto path = trajectory(board, "alpha", {1, 1, 2});
  REQUIRE(path.size() == 2);
  CHECK(path[0].mean->low == doctest::Approx(85));
  CHECK(path[0].of == 2);
  CHECK_FALSE(path[1].mean.has_value());
}
