// SPDX-License-Identifier: Apache-2.0
#include "harness/score/column_records.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "harness/core/rng.h"
#include "tests/score/scored.h"

using namespace gauntlet;

namespace {

/// Few different numbers, so that ends meet each other and the tie band exactly.
CellScore any_score(Rng& rng) {
  CellScore score;
  score.key.challenge = rng.chance(0.9) ? "first" : "second";
  score.grader_digest = rng.chance(0.8) ? "one" : "another";
  if (rng.chance(0.1)) return score;
  score.score = score.raw = static_cast<double>(rng.integer(0, 12));
  if (rng.chance(0.4)) score.high = *score.score + static_cast<double>(rng.integer(0, 6));
  if (rng.chance(0.3)) score.caps.push_back({"trap", Severity::critical, 79});
  return score;
}

/// The same cell, had something else been asked.
CellScore changed(const CellScore& score, Rng& rng) {
  CellScore other = any_score(rng);
  other.key = score.key;
  other.grader_digest = score.grader_digest;
  return other;
}

std::string in_figures(const Record& record) {
  return fmt::format("{} {} {} {}", record.won, record.lost, record.tied, record.not_comparable);
}

}  // namespace

TEST_CASE("a column's records are those of its pairs") {
  Rng rng(3);
  for (int turn = 0; turn < 2000; ++turn) {
    std::vector<CellScore> scores(static_cast<std::size_t>(rng.integer(0, 12)));
    std::vector<const CellScore*> column;
    for (CellScore& score : scores) {
      score = any_score(rng);
      column.push_back(rng.chance(0.1) ? nullptr : &score);
    }
    const auto records = column_records(rubric(), column);
    REQUIRE(records.size() == column.size());
    for (std::size_t i = 0; i < column.size(); ++i) {
      Record one_by_one;
      for (std::size_t j = 0; j < column.size(); ++j)
        if (i != j) one_by_one.count(compare(rubric(), column[i], column[j]));
      REQUIRE(in_figures(records[i]) == in_figures(one_by_one));
    }
  }
}

TEST_CASE("winners that change are those of the pairs") {
  Rng rng(4);
  for (int turn = 0; turn < 4000; ++turn) {
    std::vector<CellScore> before(static_cast<std::size_t>(rng.integer(0, 12)));
    std::vector<CellScore> after;
    for (CellScore& score : before) {
      score = any_score(rng);
      after.push_back(rng.chance(0.4) ? score : changed(score, rng));
    }
    std::size_t one_by_one = 0;
    for (std::size_t i = 0; i < before.size(); ++i)
      for (std::size_t j = i + 1; j < before.size(); ++j)
        if (compare(rubric(), &before[i], &before[j]).winner !=
            compare(rubric(), &after[i], &after[j]).winner)
          ++one_by_one;
    REQUIRE(changed_winners(rubric(), before, after) == one_by_one);
  }
}
