// SPDX-License-Identifier: Apache-2.0
#include "harness/score/attempts.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "harness/core/rng.h"
#include "harness/score/ranking.h"
#include "tests/score/scored.h"

using namespace gauntlet;

namespace {

using Cells = std::vector<CellObservation>;

const std::vector<std::string> kFour{"one", "two", "three", "four"};

/// Submissions "model-0" and so on, each with some attempts at everything.
Cells random_cells(Rng& rng, int submissions) {
  Cells cells;
  for (int s = 0; s < submissions; ++s) {
    const double skill = rng.uniform(40, 80);
    const auto attempts = static_cast<int>(rng.integer(1, 3));
    for (int a = 1; a <= attempts; ++a)
      for (const auto& challenge : kFour)
        cells.push_back(
            cell(fmt::format("model-{}#{}", s, a), challenge, skill + rng.uniform(-20, 20)));
  }
  return cells;
}

int attempts_made(const Cells& cells, const std::string& submission) {
  int most = 0;
  for (const auto& one : cells)
    if (one.key.submission == submission) most = std::max(most, one.key.attempt);
  return most;
}

double score_of(const CellObservation& cell) {
  return *score_cell(rubric(), cell).score;
}

int number(const std::optional<Place>& place) {
  return place ? place->number : 0;
}

CellObservation failing(const std::string& row, const std::string& challenge, Verdict verdict) {
  CellObservation one = cell(row, challenge, 100);
  one.checks.push_back(sample::failed("trap", Severity::minor, verdict));
  return one;
}

}  // namespace

TEST_CASE("several attempts are one row with their mean, lowest and best; one is itself") {
  const Board board(rubric(),
                    {cell("alpha", "one", 60), cell("alpha#2", "one", 90),
                     cell("alpha#3", "one", 30), cell("bravo", "one", 70)},
                    {"one"});
  CHECK(board.submissions() == std::vector<std::string>{"bravo", "alpha"});
  CHECK(board.attempts("alpha") == std::vector<std::string>{"alpha#1", "alpha#2", "alpha#3"});
  CHECK(board.attempts("bravo").empty());
  const auto summary = attempts_in(board, "alpha", "one");
  REQUIRE(summary.has_value());
  CHECK(summary->attempts == 3);
  CHECK(summary->mean.low == doctest::Approx(60));
  CHECK(summary->lowest == doctest::Approx(30));
  CHECK(summary->best.low == doctest::Approx(90));
  CHECK(summary->best_attempt == 2);
  CHECK(*summary->deviation == doctest::Approx(30));
  CHECK(*board.find("alpha", "one")->score.score == doctest::Approx(60));
  CHECK(*board.find("alpha#2", "one")->score.score == doctest::Approx(90));
  CHECK(board.mean("alpha")->score == doctest::Approx(60));
  CHECK_FALSE(attempts_in(board, "bravo", "one").has_value());
  CHECK_FALSE(board.find("alpha#2", "one")->placement.has_value());
  CHECK(ordinal(*board.find("alpha", "one")->placement) == "1st=");  // 90 is among its attempts
}

TEST_CASE("numbers add up: mean times attempts is their sum, in a challenge and over all") {
  Rng rng(3);
  for (int i = 0; i < 20; ++i) {
    const Cells cells = random_cells(rng, 4);
    const Board board(quick_rubric(), cells, kFour);
    for (const auto& several : several_attempts(board)) {
      double all = 0;
      for (const auto& [challenge, summary] : several.challenges) {
        double sum = 0;
        for (const auto& row : several.rows) sum += *board.find(row, challenge)->score.score;
        CHECK(summary.mean.low * summary.attempts == doctest::Approx(sum));
        CHECK(*board.find(several.submission, challenge)->score.score ==
              doctest::Approx(summary.mean.low));
        all += sum;
      }
      REQUIRE(several.overall.has_value());
      CHECK(several.overall->mean.low * several.overall->attempts * 4 == doctest::Approx(all));
      CHECK(several.overall->lowest <= several.overall->mean.low);
      CHECK(several.overall->mean.low <= several.overall->best.low);
    }
  }
}

TEST_CASE("an attempt that is worse in every challenge raises no mean, no best and no place") {
  Rng rng(4);
  for (int i = 0; i < 60; ++i) {
    Cells cells = random_cells(rng, 5);
    const std::string name = "model-0";
    const Board before(quick_rubric(), cells, kFour);
    const auto ranked = rank_submissions(quick_rubric(), before);
    const int next = attempts_made(cells, name) + 1;
    for (const auto& challenge : kFour) {
      double lowest = 100;
      for (const auto& one : cells)
        if (one.key.submission == name && one.key.challenge == challenge)
          lowest = std::min(lowest, score_of(one));
      cells.push_back(cell(fmt::format("{}#{}", name, next), challenge, rng.uniform(0, lowest)));
    }
    const Board after(quick_rubric(), cells, kFour);
    const auto again = rank_submissions(quick_rubric(), after);
    INFO(i);
    CHECK(after.mean(name)->score <= before.mean(name)->score);
    CHECK(number(of(again, name).place) >= number(of(ranked, name).place));
    for (const auto& challenge : kFour) {
      CHECK(*after.find(name, challenge)->score.score <=
            *before.find(name, challenge)->score.score);
      CHECK(number(after.find(name, challenge)->placement) >=
            number(before.find(name, challenge)->placement));
      const auto old = attempts_in(before, name, challenge);
      const double best = old ? old->best.low : *before.find(name, challenge)->score.score;
      CHECK(attempts_in(after, name, challenge)->best.low == best);
    }
  }
}

TEST_CASE("a check of one attempt that becomes unmeasured raises nothing, and no place") {
  Rng rng(6);
  for (int i = 0; i < 40; ++i) {
    Cells cells = random_cells(rng, 4);
    for (auto& one : cells) one.checks.push_back(sample::passed("more", Section::robustness));
    const Board before(quick_rubric(), cells, kFour);
    const auto ranked = rank_submissions(quick_rubric(), before);
    CellObservation& changed = cells[static_cast<std::size_t>(
        rng.integer(0, static_cast<std::int64_t>(cells.size()) - 1))];
    changed.checks.back().verdict = Verdict::unmeasured;
    const std::string challenge = changed.key.challenge;
    const Board after(quick_rubric(), cells, kFour);
    const std::string name = after.submission(changed.key);
    INFO(i, " ", name);
    CHECK(after.mean(name)->score < before.mean(name)->score);
    CHECK(after.mean(name)->high >= after.mean(name)->score);
    CHECK(number(of(rank_submissions(quick_rubric(), after), name).place) >=
          number(of(ranked, name).place));
    CHECK(number(after.find(name, challenge)->placement) >=
          number(before.find(name, challenge)->placement));
    const auto was = attempts_in(before, name, challenge);
    const auto is = attempts_in(after, name, challenge);
    REQUIRE(was.has_value() == is.has_value());
    if (!is) continue;
    CHECK(is->best.low <= was->best.low);
    CHECK(is->lowest <= was->lowest);
    CHECK(is->passed == was->passed - 1);
    CHECK(is->may_pass == was->may_pass);
    for (std::size_t k = 0; k < is->pass.size(); ++k) {
      CHECK(is->pass[k].chance.low <= was->pass[k].chance.low);
      CHECK(is->pass[k].chance.high == was->pass[k].chance.high);
    }
  }
}

TEST_CASE("which attempt came first, and who is called what, changes no number and no place") {
  Rng rng(5);
  for (int i = 0; i < 20; ++i) {
    const Cells cells = random_cells(rng, 5);
    Cells changed = cells;
    for (auto& one : changed) {
      one.key.attempt = attempts_made(cells, one.key.submission) + 1 - one.key.attempt;
      one.key.submission = fmt::format("model-{}", '9' - one.key.submission.back());
    }
    const Board board(quick_rubric(), cells, kFour);
    const Board other(quick_rubric(), changed, kFour);
    const auto ranks = rank_submissions(quick_rubric(), board);
    const auto others = rank_submissions(quick_rubric(), other);
    for (const auto& ranked : ranks) {
      const std::string name = fmt::format("model-{}", '9' - ranked.submission[6]);
      const Ranked& same = of(others, name);
      CHECK(ordinal(*same.place) == ordinal(*ranked.place));
      CHECK(same.mean->score == doctest::Approx(ranked.mean->score).epsilon(1e-12));
      REQUIRE(same.place->behind.has_value() == ranked.place->behind.has_value());
      if (same.place->behind)
        CHECK(same.place->behind->interval.low ==
              doctest::Approx(ranked.place->behind->interval.low));
      for (const auto& challenge : kFour) {
        CHECK(ordinal(*other.find(name, challenge)->placement) ==
              ordinal(*board.find(ranked.submission, challenge)->placement));
        const auto one = attempts_in(board, ranked.submission, challenge);
        const auto two = attempts_in(other, name, challenge);
        REQUIRE(one.has_value() == two.has_value());
        if (one) CHECK(one->best.low == two->best.low);
        if (one) CHECK(one->lowest == two->lowest);
        if (one) CHECK(one->passed == two->passed);
      }
    }
  }
}

TEST_CASE("means whose order the data do not support share a place, and the interval says so") {
  const Cells apart{cell("alpha", "one", 80), cell("alpha", "two", 80), cell("bravo", "one", 70),
                    cell("bravo", "two", 70)};
  const auto clear = rank_submissions(rubric(), Board(rubric(), apart, {"one", "two"}));
  CHECK(ordinal(*of(clear, "bravo").place) == "2nd");
  CHECK(of(clear, "bravo").ahead == "alpha");
  CHECK(of(clear, "bravo").place->behind->points == doctest::Approx(10));
  CHECK(of(clear, "bravo").place->behind->interval.low == doctest::Approx(10));
  CHECK_FALSE(of(clear, "alpha").place->behind.has_value());
  const Cells mixed{cell("alpha", "one", 95), cell("alpha", "two", 65), cell("bravo", "one", 70),
                    cell("bravo", "two", 70)};
  const auto open = rank_submissions(rubric(), Board(rubric(), mixed, {"one", "two"}));
  CHECK(ordinal(*of(open, "bravo").place) == "1st=");
  CHECK(of(open, "bravo").place->behind->points == doctest::Approx(10));
  CHECK(of(open, "bravo").place->behind->interval.low < 0);
}

TEST_CASE("what is missing of an entry costs it no place that its low end shares") {
  CellObservation partial = cell("bravo", "one", 99);  // 66 to 99
  partial.checks.push_back(sample::failed("trap", Severity::minor, Verdict::unmeasured));
  partial.checks.back().info.weight = 0.5;
  const auto ranks = rank_submissions(
      rubric(),
      Board(rubric(),
            {cell("alpha", "one", 99), cell("alpha", "two", 69), partial, cell("bravo", "two", 90)},
            {"one", "two"}));
  CHECK(of(ranks, "bravo").place->behind->interval.low < 0);
  CHECK(ordinal(*of(ranks, "alpha").place) == "1st=");
  CHECK(of(ranks, "bravo").place->number == 1);
}

TEST_CASE(
    "pass@k counts attempts that passed all that the rubric names; what is not known counts low") {
  CellObservation slow = cell("alpha#4", "one", 100);
  slow.checks.push_back(sample::passed("speed", Section::performance));
  slow.checks.back().verdict = Verdict::timed_out;
  const Board board(rubric(),
                    {cell("alpha#1", "one", 100), failing("alpha#2", "one", Verdict::wrong),
                     failing("alpha#3", "one", Verdict::unmeasured), slow},
                    {"one"});
  const auto summary = *attempts_in(board, "alpha", "one");
  CHECK(summary.passed == 2);
  CHECK(summary.may_pass == 3);
  REQUIRE(summary.pass.size() == 2);  // 5 is more than 4
  CHECK(summary.pass[0].chance.low == doctest::Approx(0.5));
  CHECK(summary.pass[0].chance.high == doctest::Approx(0.75));
  CHECK(summary.pass[1].k == 2);
  CHECK(summary.pass[1].chance.low == doctest::Approx(1 - 1.0 / 6));
  CHECK(summary.pass[1].chance.high == 1);
}

TEST_CASE("cheating anywhere, a failed build and nothing asked are no pass") {
  CellObservation cheated = cell("alpha", "one", 100);
  cheated.checks.push_back(sample::passed("speed", Section::performance));
  cheated.checks.back().verdict = Verdict::cheated;
  CHECK_FALSE(score_cell(rubric(), cheated).may_pass);
  CellObservation unbuilt = sample::cell("alpha", "one");
  unbuilt.build.ok = false;
  CHECK_FALSE(score_cell(rubric(), unbuilt).may_pass);
  const CellScore broken = score_cell(rubric(), sample::cell("alpha", "one"));
  CHECK_FALSE(broken.passed);
  CHECK(broken.may_pass);
}

TEST_CASE(
    "what could not be measured of one attempt lowers the mean's low end and raises nothing") {
  CellObservation broken = sample::cell("alpha#2", "one");
  broken.checks = {sample::failed("base", Severity::critical, Verdict::broken)};
  const Board board(rubric(), {cell("alpha#1", "one", 80), broken, cell("bravo", "one", 60)},
                    {"one"});
  const CellScore& mean = board.find("alpha", "one")->score;
  CHECK(mean.status == CellStatus::graded);
  CHECK(*mean.score == doctest::Approx(40));
  CHECK(*mean.high == doctest::Approx(90));
  CHECK(mean.partial());
  CHECK(mean.reasons.size() == 1);
  const auto summary = *attempts_in(board, "alpha", "one");
  CHECK(summary.lowest == 0);
  CHECK(summary.best.low == doctest::Approx(80));
  CHECK_FALSE(summary.deviation.has_value());
  const auto ranks = rank_submissions(rubric(), board);
  CHECK_FALSE(of(ranks, "alpha").place.has_value());
  CHECK_FALSE(of(ranks, "alpha").all_attempts);
  CHECK(ordinal(*of(ranks, "bravo").place) == "1st");
}

TEST_CASE("an attempt that left challenges out costs the rank, and is no best over all") {
  const Board board(
      rubric(),
      {cell("alpha#1", "one", 60), cell("alpha#1", "two", 60), cell("alpha#2", "one", 95),
       cell("bravo", "one", 50), cell("bravo", "two", 50)},
      {"one", "two"});
  const auto summary = *attempts_overall(board, "alpha");
  CHECK(summary.attempts == 2);
  CHECK(summary.best_attempt == 1);
  CHECK(summary.best.low == doctest::Approx(60));
  CHECK(summary.pass.size() == 1);  // of challenge two there is one attempt
  CHECK(attempts_in(board, "alpha", "two")->attempts == 1);
  const auto ranks = rank_submissions(rubric(), board);
  CHECK_FALSE(of(ranks, "alpha").place.has_value());
  CHECK(of(ranks, "alpha").mean->graded == 2);
  CHECK(ordinal(*of(ranks, "bravo").place) == "1st");
}

TEST_CASE("attempts of one device are no attempts of another") {
  const Board board(
      rubric(),
      {cell("alpha", "one", 60), cell("alpha#2", "one", 80), cell("alpha@cuda", "one", 10)},
      {"one"});
  CHECK(board.submissions() == std::vector<std::string>{"alpha", "alpha@cuda"});
  CHECK(board.attempts("alpha@cuda").empty());
  CHECK(attempts_in(board, "alpha", "one")->attempts == 2);
  CHECK(*board.find("alpha", "one")->score.score == doctest::Approx(70));
}

TEST_CASE("a mean of different graders is comparable to nothing") {
  CellObservation old = cell("alpha#2", "one", 90);
  old.provenance.grader_digest = "another";
  const Board board(rubric(), {cell("alpha", "one", 90), old, cell("bravo", "one", 60)}, {"one"});
  CHECK(board.compare("alpha", "bravo", "one").margin == Margin::not_comparable);
  const auto ranks = rank_submissions(rubric(), board);
  CHECK_FALSE(of(ranks, "alpha").place.has_value());
  CHECK_FALSE(of(ranks, "alpha").same_graders);
}

TEST_CASE("a trap that one attempt fell into is one of all of them") {
  CellObservation trapped = cell("alpha#2", "one", 100);
  trapped.checks.push_back(sample::failed("trap", Severity::critical));
  trapped.checks.back().info.weight = 0.1;
  const Board board(rubric(), {cell("alpha", "one", 100), trapped, cell("bravo", "one", 70)},
                    {"one"});
  CHECK(board.find("alpha", "one")->score.critical_failure());
  CHECK(*board.find("alpha", "one")->score.score == doctest::Approx(89.5));
  CHECK(board.find("alpha", "one")->score.capped());
  CHECK(board.compare("alpha", "bravo", "one").margin == Margin::split);
}

TEST_CASE("attempts that are to stand apart are rows and take places, as single submissions do") {
  const Board board(rubric(), {cell("alpha", "one", 60), cell("alpha#2", "one", 90)}, {"one"},
                    Attempts::apart);
  CHECK(board.submissions() == std::vector<std::string>{"alpha#2", "alpha"});
  CHECK(board.attempts("alpha").empty());
  CHECK(ordinal(*board.find("alpha", "one")->placement) == "2nd");
}

TEST_CASE("the document of attempts has what is known and leaves out what is not") {
  const Board board(rubric(),
                    {cell("alpha", "one", 60), failing("alpha#2", "one", Verdict::unmeasured),
                     cell("alpha#2", "two", 50)},
                    {"one", "two"});
  const auto several = several_attempts(board);
  REQUIRE(several.size() == 1);
  const Json json = to_json(several[0]);
  CHECK(json["submission"] == "alpha");
  CHECK(json["rows"] == Json{"alpha#1", "alpha#2"});
  CHECK(json["challenges"][0]["challenge"] == "one");
  CHECK(json["challenges"][0]["attempts"] == 2);
  CHECK_FALSE(json["challenges"][0].contains("standard_deviation"));
  CHECK(json["challenges"][0]["pass_at"][0]["k"] == 1);
  CHECK(json["challenges"][1]["attempts"] == 1);
  CHECK(json["overall"]["best_attempt"] == 2);
}
