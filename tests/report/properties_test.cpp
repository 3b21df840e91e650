// SPDX-License-Identifier: Apache-2.0
// What must hold of every board, whoever is on it: random tables of scores, judged a second time by
// code that shares nothing with what made them.
#include <doctest/doctest.h>
#include <map>

#include "harness/report/model/aggregate.h"
#include "harness/report/report.h"
#include "tests/report/claim_check.h"
#include "tests/report/random_table.h"

using namespace gauntlet;

namespace {

constexpr std::uint64_t kTables = 40;

Aggregate random_aggregate(std::uint64_t seed) {
  return aggregate(random_table(seed, 2 + static_cast<int>(seed % 6), 8, 12));
}

}  // namespace

TEST_CASE("records, letters, scores and places of random boards stand a second judgement") {
  for (std::uint64_t seed = 0; seed < kTables; ++seed)
    for (const auto& complaint : unsound_numbers(document(random_aggregate(seed))))
      FAIL_CHECK(seed, ": ", complaint);
}

TEST_CASE("a record adds up to the number of challenges and is its own reverse") {
  for (std::uint64_t seed = 0; seed < kTables; ++seed) {
    const ReportInput input = random_table(seed, 5, 8, 12);
    std::vector<std::string> ids;
    for (const auto& challenge : input.challenges) ids.push_back(challenge.id);
    const Board board(input.rubric, input.cells, ids);
    for (const auto& a : board.submissions())
      for (const auto& b : board.submissions()) {
        if (a == b) continue;
        const Record there = board.record(a, b);
        const Record back = board.record(b, a);
        CHECK(there.won + there.lost + there.tied + there.not_comparable == 8);
        CHECK(back.won == there.lost);
        CHECK(back.tied == there.tied);
        CHECK(back.not_comparable == there.not_comparable);
        const bool leads = there.verb() == "leads";
        CHECK(leads == (there.won > there.lost));
        CHECK((back.verb() == "trails") == leads);
      }
  }
}

TEST_CASE("a cap only lowers, and who fell into a trap beats nobody who did not") {
  int capped = 0;
  for (std::uint64_t seed = 0; seed < kTables; ++seed) {
    const Aggregate all = random_aggregate(seed);
    for (const auto& cell : all.cells)
      if (cell.score.score) {
        CHECK(*cell.score.score <= *cell.score.raw);
        capped += cell.score.capped() ? 1 : 0;
        CHECK(cell.score.range->low <= *cell.score.score + 1e-9);
        CHECK(cell.score.range->high >= *cell.score.high - 1e-9);
      }
    for (const auto& pair : all.pairs)
      for (const PairRow& row : pair.rows) {
        if (row.verdict.winner == 0) continue;
        const bool first = row.verdict.winner > 0;
        const auto& winner = *all.find(first ? pair.first : pair.second, row.challenge);
        const auto& loser = *all.find(first ? pair.second : pair.first, row.challenge);
        const bool stolen = winner.score.critical_failure() && !loser.score.critical_failure();
        CHECK_FALSE(stolen);
        CHECK(*winner.score.score > *loser.score.score);
      }
  }
  CHECK(capped > 100);
}

TEST_CASE("letters fall with the score, and no printed number has another letter") {
  const Rubric rubric = demo::rubric();
  for (int hundredths = 1; hundredths <= 10000; ++hundredths) {
    const double score = hundredths / 100.0;
    CHECK(rubric.letter_of(rubric.printed(score)) == rubric.letter_of(score));
    const auto place = [&](double points) {
      std::size_t i = 0;
      while (rubric.letters[i].letter != rubric.letter_of(points)) ++i;
      return i;
    };
    CHECK(place(score) <= place(score - 0.01));
  }
}

TEST_CASE("a submission worse than all others moves nobody's place") {
  for (std::uint64_t seed = 0; seed < kTables; ++seed) {
    ReportInput input = random_table(seed, 5, 8, 12);
    const Aggregate before = aggregate(input);
    for (const auto& challenge : input.challenges) {
      CellObservation last = sample::cell("zz-last", challenge.id);
      last.build.ok = false;
      input.cells.push_back(last);
    }
    const Aggregate after = aggregate(input);
    for (const auto& cell : before.cells) {
      if (!cell.place || *cell.score.score < input.rubric.tie_band) continue;
      const auto& now = after.find(cell.submission(), cell.challenge())->place;
      REQUIRE(now.has_value());
      CHECK(now->number == cell.place->number);
    }
  }
}

TEST_CASE("only who was graded everywhere has a rank, and ranks lie in their ranges") {
  int unranked = 0;
  for (std::uint64_t seed = 0; seed < kTables; ++seed)
    for (const auto& submission : random_aggregate(seed).submissions) {
      if (!submission.ranked || !submission.mean) continue;
      const Ranked& ranked = *submission.ranked;
      CHECK(ranked.best_rank >= 1);
      CHECK(ranked.worst_rank >= ranked.best_rank);
      CHECK(ranked.bounds.low <= ranked.bounds.high);
      if (submission.mean->graded < submission.mean->of) {
        CHECK_FALSE(ranked.place.has_value());
        ++unranked;
      }
    }
  CHECK(unranked > 20);
}

TEST_CASE("reports of random boards claim nothing that does not hold") {
  for (std::uint64_t seed = 0; seed < 12; ++seed)
    for (const auto& complaint :
         untruths(render_report(random_table(seed, 2 + static_cast<int>(seed % 5), 8, 10))))
      FAIL_CHECK(seed, ": ", complaint);
}

TEST_CASE("attempts of random boards add up, and their reports claim nothing that does not hold") {
  std::size_t several = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const ReportInput input = random_attempts(seed, 7, 6, 10);
    const Aggregate all = aggregate(input);
    several += all.attempts.size();
    for (const auto& complaint : unsound_numbers(document(all))) FAIL_CHECK(seed, ": ", complaint);
    if (seed < 4)
      for (const auto& complaint : untruths(render_report(input)))
        FAIL_CHECK(seed, ": ", complaint);
  }
  CHECK(several > 20);
}
