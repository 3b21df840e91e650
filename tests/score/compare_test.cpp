// SPDX-License-Identifier: Apache-2.0
#include "harness/score/compare.h"

#include <doctest/doctest.h>

#include "harness/core/rng.h"
#include "tests/score/scored.h"

using namespace gauntlet;

namespace {

CellScore graded(double value, bool critical = false) {
  CellScore score;
  score.key.challenge = "first";
  score.raw = value;
  score.score = value;
  if (critical) score.caps.push_back({"trap", Severity::critical, 79});
  return score;
}

PairVerdict between(const CellScore& a, const CellScore& b) {
  return compare(rubric(), &a, &b);
}

std::vector<std::string> places(const std::vector<std::optional<double>>& scores) {
  std::vector<std::string> words;
  for (const auto& place : placements(rubric().tie_band, scores))
    words.push_back(place ? ordinal(*place) : "-");
  return words;
}

std::vector<std::optional<double>> random_scores(Rng& rng) {
  std::vector<std::optional<double>> scores(static_cast<std::size_t>(rng.integer(0, 9)));
  for (auto& score : scores)
    if (rng.chance(0.8)) score = rng.chance(0.2) ? 79 : rng.uniform(60, 100);
  return scores;
}

}  // namespace

TEST_CASE("places are shared within the band of the first, and the next group skips") {
  CHECK(places({91, 92, std::nullopt, 83}) == std::vector<std::string>{"1st=", "1st=", "-", "3rd"});
  CHECK(places({93, 91, 94}) == std::vector<std::string>{"1st=", "3rd", "1st="});
  CHECK(places({95, 79, 79}) == std::vector<std::string>{"1st", "2nd=", "2nd="});
  CHECK(places({90, 87}) == std::vector<std::string>{"1st", "2nd"});  // exactly the band apart
  CHECK(places({}).empty());
}

TEST_CASE("places are counted in English") {
  std::vector<std::string> words;
  for (const int n : {1, 2, 3, 4, 11, 12, 13, 21, 22, 103, 112})
    words.push_back(ordinal({n, false}));
  CHECK(words == std::vector<std::string>{"1st", "2nd", "3rd", "4th", "11th", "12th", "13th",
                                          "21st", "22nd", "103rd", "112th"});
}

TEST_CASE("places follow the scores for any column") {
  Rng rng(5);
  for (int i = 0; i < 3000; ++i) {
    const auto scores = random_scores(rng);
    const auto placed = placements(rubric().tie_band, scores);
    for (std::size_t a = 0; a < scores.size(); ++a) {
      REQUIRE(placed[a].has_value() == scores[a].has_value());
      if (!placed[a]) continue;
      int better = 0;
      int sharing = 0;
      for (std::size_t b = 0; b < scores.size(); ++b) {
        if (!placed[b]) continue;
        if (*scores[b] > *scores[a]) CHECK(placed[b]->number <= placed[a]->number);
        if (placed[b]->number < placed[a]->number) ++better;
        if (placed[b]->number == placed[a]->number) {
          ++sharing;
          CHECK(std::abs(*scores[a] - *scores[b]) < rubric().tie_band);
        }
      }
      CHECK(placed[a]->number == better + 1);  // competition ranking: no gaps, no overlaps
      CHECK(placed[a]->shared == (sharing > 1));
    }
  }
}

TEST_CASE("margins have the words that the rubric's thresholds give") {
  const auto word = [](double a, double b) {
    return std::string(name_of(between(graded(a), graded(b)).margin));
  };
  CHECK(word(90, 88) == "Tie");
  CHECK(word(90, 87) == "Narrow");
  CHECK(word(90, 84.1) == "Narrow");
  CHECK(word(90, 84) == "Moderate");
  CHECK(word(90, 78) == "Decisive");
}

TEST_CASE("who failed a critical check cannot win against who did not") {
  CHECK(between(graded(79, true), graded(70)).margin == Margin::split);
  CHECK(between(graded(79, true), graded(70)).winner == 0);
  const PairVerdict lost = between(graded(79, true), graded(83));
  CHECK(lost.margin == Margin::decisive_critical);
  CHECK(lost.winner == -1);
  CHECK(between(graded(79, true), graded(70, true)).margin == Margin::moderate);
}

TEST_CASE("what is missing of one decides nothing, and only the rest of a difference counts") {
  CellScore open = graded(72);
  open.high = 92;
  CHECK(between(open, graded(50)).winner == 1);
  CHECK(between(open, graded(50)).difference == 22);
  CHECK(between(graded(50), open).difference == -22);
  CHECK(between(open, graded(80)).margin == Margin::not_comparable);
  CHECK(between(open, graded(92)).margin == Margin::not_comparable);
  CHECK(between(open, graded(70)).margin == Margin::tie);
  CHECK(between(open, graded(96)).winner == -1);
  CHECK(between(open, open).margin == Margin::not_comparable);
}

TEST_CASE("what was not graded by the same grader, for the same device, is not compared") {
  const CellScore one = graded(90);
  CellScore other = graded(70);
  CHECK(compare(rubric(), &one, nullptr).margin == Margin::not_comparable);
  other.key.device = Device::cuda;
  CHECK(between(one, other).margin == Margin::not_comparable);
  other = graded(70);
  other.grader_digest = "another";
  CHECK(between(one, other).margin == Margin::not_comparable);
  other = graded(70);
  other.score.reset();
  CHECK(between(one, other).margin == Margin::not_comparable);
}

TEST_CASE("records add up, and the other side's is the mirror image") {
  Rng rng(6);
  for (int i = 0; i < 3000; ++i) {
    Record first;
    Record second;
    for (int challenge = 0; challenge < 8; ++challenge) {
      const CellScore a = graded(rng.uniform(50, 100), rng.chance(0.3));
      const CellScore b = graded(rng.uniform(50, 100), rng.chance(0.3));
      const bool missing = rng.chance(0.2);
      const PairVerdict forth = compare(rubric(), &a, missing ? nullptr : &b);
      const PairVerdict back = compare(rubric(), missing ? nullptr : &b, &a);
      CHECK(forth.margin == back.margin);
      CHECK(forth.winner == -back.winner);
      CHECK((forth.winner != 0) == (forth.margin >= Margin::narrow));
      first.count(forth);
      second.count(back);
    }
    CHECK(first.won + first.lost + first.tied + first.not_comparable == 8);
    CHECK(first.won == second.lost);
    CHECK(first.lost == second.won);
    CHECK(first.tied == second.tied);
    CHECK((first.verb() == "leads") == (second.verb() == "trails"));
    const bool shared = first.not_comparable < 8;
    CHECK((first.verb() == "is level with") == (shared && first.won == first.lost));
    CHECK((first.verb() == "shares nothing with") == !shared);
  }
}
