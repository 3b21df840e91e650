// SPDX-License-Identifier: Apache-2.0
#include "harness/score/recount.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <map>
#include <set>

#include "tests/store/judged_sample.h"

using namespace gauntlet;

namespace {

std::string text_of(const Record& record) {
  return fmt::format("{}-{}-{}", record.won, record.lost, record.tied);
}

/// The published grades that this repository ships.
const Recount& origin() {
  static const Recount recount(
      read_judgement(std::filesystem::path(GAUNTLET_ROOT) / "reports/judged/origin.yaml"));
  return recount;
}

/// What is examined of the statement that begins with `says`.
Examined examined(const std::string& says) {
  for (const auto& statement : origin().judgement().statements)
    if (statement.says.rfind(says, 0) == 0) return examine(origin(), statement);
  FAIL("no statement begins with " << says);
  return {};
}

void check_contradicted(const std::string& says, const std::string& figures) {
  const Examined found = examined(says);
  INFO(says);
  CHECK(found.truth == Truth::contradicted);
  CHECK(found.figures == figures);
}

}  // namespace

TEST_CASE("the origin's letters give means that its ranking denies") {
  CHECK(fmt::format("{:.3f}", origin().mean("opus-4.7")->score) == "3.750");
  CHECK(fmt::format("{:.3f}", origin().mean("qwen3-6")->score) == "3.675");
  CHECK(fmt::format("{:.3f}", origin().mean("glm-5")->score) == "3.638");
  CHECK(origin().rank("opus-4.7")->number == 1);
  CHECK(origin().rank("glm-5")->number == 3);
  CHECK_FALSE(origin().rank("kimi-k2.6"));
  CHECK(origin().models() == std::vector<std::string>{"opus-4.7", "qwen3-6", "glm-5", "glm-5.1",
                                                      "kimi-k2.6", "minimax-m2.7"});
}

TEST_CASE("the origin's records, counted from the winners that it names and from its letters") {
  const auto named = [](const std::string& a, const std::string& b) {
    return text_of(*origin().named_record("cross-model", {a, b}));
  };
  const auto letters = [](const std::string& a, const std::string& b) {
    return text_of(
        origin().record({a, b}, origin().judgement().document("cross-model").challenges));
  };
  CHECK(named("glm-5", "qwen3-6") == "3-4-1");
  CHECK(named("opus-4.7", "glm-5") == "2-2-4");
  CHECK(named("opus-4.7", "qwen3-6") == "4-2-1");
  CHECK(named("qwen3-6", "opus-4.7") == "2-4-1");
  CHECK(letters("glm-5", "qwen3-6") == "2-5-1");
  CHECK(letters("opus-4.7", "glm-5") == "3-2-3");
  CHECK(letters("opus-4.7", "kimi-k2.6") == "2-1-0");
}

TEST_CASE("statements of the origin that its own figures contradict are found by computing") {
  check_contradicted("GLM-5 is the clear #1",
                     "3rd of the 3 that took everything, by a mean of 3.638");
  check_contradicted("Record: Opus 4.7 leads 2-2-4",
                     "Opus 4.7 is level with GLM-5 2–2–4 by the winners that it names and Opus 4.7 "
                     "leads GLM-5 3–2–3 by its letters");
  check_contradicted("Record: Opus 4.7 leads 4-1-2",
                     "Opus 4.7 leads Qwen3-6 4–2–1 by the winners that it names and Opus 4.7 is "
                     "level with Qwen3-6 2–2–4 by its letters");
  check_contradicted("GLM-5 vs Qwen3-6 (7 overlapping", "both have a grade in 8");
  check_contradicted("Claude Opus 4.7 (7, absent ternary)", "a grade in 8 challenges");
  check_contradicted("MiniMax-M2.7 (4,", "a grade in 5 challenges");
  check_contradicted("Opus 4.7 vs Kimi K2.6 (2", "both have a grade in 3");
  check_contradicted("Aggregate Ranking, GLM-5.1, Ternary", "C+ is 4th");
  check_contradicted("the only model that never declined",
                     "means by round 3.567, 3.500, 3.700, 4.000, 3.700; falls in round 2 and round "
                     "5");
  check_contradicted("Both end at A- in ternary", "the matrix has B+");
  check_contradicted("GLM-5 Critical Weakness",
                     "it wins the challenge against Qwen3-6 all the same");
  CHECK(examined("The Two Most Differentiating").figures.rfind("3 follow: ", 0) == 0);
  CHECK(examined("Record: GLM-5 leads 3-0").truth == Truth::holds);
  CHECK(examined("Aggregate Ranking, Kimi K2.6, Rank").truth == Truth::cannot_tell);
}

TEST_CASE("places that were not computed again when a model joined are found") {
  CHECK(ordinal(*origin().place("qwen3-6", "layernorm_backward")) == "2nd");         // said 1st
  CHECK(ordinal(*origin().place("glm-5", "softmax_topk")) == "3rd");                 // said tie
  CHECK(ordinal(*origin().place("qwen3-6", "flash_attention_backward")) == "2nd=");  // said 3rd
  CHECK(ordinal(*origin().place("glm-5.1", "flash_attention_backward")) == "5th");   // said 4th
}

TEST_CASE("winners and scores that the origin's letters deny are found") {
  std::set<std::string> rows;
  for (const auto& denied : denied_winners(origin()))
    rows.insert(denied.pair->models[0] + " " + denied.pair->models[1] + " " +
                denied.winner->challenge + ": " + denied.letters);
  CHECK(rows.contains("opus-4.7 glm-5.1 dflash: A and B+"));
  CHECK(rows.contains("kimi-k2.6 glm-5.1 ternary_training: C and C+"));
  CHECK_FALSE(rows.contains("opus-4.7 qwen3-6 dflash: A and B-"));
  CHECK(inversions(origin().judgement()).size() == 6);
}

TEST_CASE("each kind of assertion can be contradicted and can hold") {
  const Judgement judgement = judgement_from_yaml(sample::judgement_yaml(), "j.yaml");
  const Recount recount(judgement);
  for (const auto& statement : judgement.statements) {
    INFO(statement.says);
    CHECK(examine(recount, statement).truth == Truth::contradicted);
  }
  // The same sentences with what the figures say instead.
  const std::map<std::string, Assertion> truths{
      {"took_part", stated::TookPart{"charlie", 2}},
      {"shared", stated::Shared{{"alpha", "charlie"}, 2}},
      {"rank", stated::Rank{"alpha", 2}},
      {"mean", stated::Mean{"alpha", {"A-", "B+"}}},
      {"nearest", stated::Mean{"alpha", {"B+"}}},
      {"round", stated::Round{"alpha", 1, "B+", 2}},
      {"place", stated::PlaceIn{"bravo", "one", 2}},
      {"grade", stated::GradeIn{"charlie", "two", "B"}},
      {"never_declines", stated::NeverDeclines{"bravo"}},
      {"range", stated::Range{"alpha", {"B", "A"}}},
      {"narrowest_range", stated::NarrowestRange{"bravo"}},
      {"wins", stated::Wins{{"bravo", "charlie"}, {"one", "two"}}},
      {"count", stated::Count{2, {"a", "b"}}},
      {"critical", stated::Critical{"alpha", "two"}}};
  for (const auto& truth : truths) {
    INFO(truth.first);
    const Examined found = examine(recount, {"page", truth.first, truth.second});
    INFO(found.figures);
    CHECK(found.truth == Truth::holds);
  }
  CHECK(examine(recount, {"page", "", stated::Mean{"alpha", {"A", "A-"}}}).truth ==
        Truth::contradicted);
  // The scoreboard names one winner, and its letters are not its own.
  const stated::Record of_board{{"bravo", "alpha"}, "leads", {1, 0, 0}};
  CHECK(examine(recount, {"board", "", of_board}).truth == Truth::holds);
  Judgement without = judgement;
  std::erase_if(without.grades, [](const auto& grade) {
    return grade.model == "bravo" && grade.challenge == "one";
  });
  CHECK(examine(Recount(without), {"page", "", stated::OnlyComplete{"alpha"}}).truth ==
        Truth::holds);
}
