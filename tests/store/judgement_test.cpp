// SPDX-License-Identifier: Apache-2.0
#include "harness/store/judgement.h"

#include <doctest/doctest.h>

#include "harness/core/error.h"
#include "tests/store/judged_sample.h"

using namespace gauntlet;

namespace {

/// What is said about the sample with `from` replaced by `to`.
std::string complaint(const std::string& from, const std::string& to) {
  std::string text = sample::judgement_yaml();
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  try {
    judgement_from_yaml(text, "j.yaml");
  } catch (const UserError& error) {
    return error.what();
  }
  return "no complaint";
}

}  // namespace

TEST_CASE("a judgement is read with its grades, places, winners and statements") {
  const Judgement read = judgement_from_yaml(sample::judgement_yaml(), "j.yaml");
  CHECK(read.document("board").challenges == std::vector<std::string>{"one"});
  CHECK(read.document("page").challenges.size() == 3);
  CHECK(read.find("charlie", "two")->place == "tie 2nd");
  CHECK(read.find("charlie", "two")->number() == 2);
  CHECK(read.find("bravo", "three")->number() == 0);
  CHECK(read.find("alpha", "three")->place.empty());
  CHECK(read.find("charlie", "three") == nullptr);
  CHECK(read.pairs[0].winners[0].margin == "Narrow");
  CHECK(read.pairs[0].winners[1].model.empty());
  CHECK(read.statements.size() == 15);
}

TEST_CASE("a file that claims execution is told where such grades belong") {
  CHECK(complaint("executed: false", "executed: true").find("j.yaml:3: executed: must be false") ==
        0);
  CHECK(complaint("executed: false\n", "") == "j.yaml:1: executed: is missing; add it");
}

TEST_CASE("every complaint names file, line, key and what was wanted") {
  CHECK(complaint("bravo: A- (1st)", "bravo: A+ (1st)") ==
        "j.yaml:18: grades.letters.one.bravo: 'A+' is no letter; wanted A, A-, B+ and so on to D- "
        "and F");
  CHECK(complaint("bravo: A- (1st)", "bravo: 93").find("'93' is no grade; wanted a letter and") !=
        std::string::npos);
  CHECK(complaint("    two: {", "    tow: {") ==
        "j.yaml:19: grades.letters.tow: 'tow' is no challenge of this file, did you mean 'two'?");
  CHECK(complaint("charlie: B (3rd)", "charly: B (3rd)") ==
        "j.yaml:18: grades.letters.one.charly: 'charly' is no model of this file, did you mean "
        "'charlie'?");
  CHECK(complaint("one: alpha (Narrow)", "one: charlie")
            .find("pairs[0].winners.one: 'charlie' is no winner; wanted 'alpha', 'bravo', 'Tie'") !=
        std::string::npos);
  CHECK(complaint("models: [alpha, bravo]", "models: [alpha, alpha]")
            .find("pairs[0].models: must be two different models") != std::string::npos);
  CHECK(complaint("{id: bravo, name: Bravo}", "{id: alpha, name: Bravo}")
            .find("models[1].id: 'alpha' is given twice") != std::string::npos);
  CHECK(complaint("{id: alpha, name: Alpha}", "{id: ../x, name: Alpha}")
            .find("models[0].id: '../x' must be lower-case") != std::string::npos);
}

TEST_CASE("a statement asserts one known thing") {
  CHECK(complaint("rank: {model: alpha, place: 1}", "rnak: {model: alpha, place: 1}")
            .find("rnak: is no known key, did you mean 'rank'?") != std::string::npos);
  CHECK(complaint("rank: {model: alpha, place: 1}", "rank: {model: alpha, place: 1}, mean: {}")
            .find("a statement asserts one thing; split it") != std::string::npos);
  CHECK(complaint(", rank: {model: alpha, place: 1}", "")
            .find("says: asserts nothing; add one of "
                  "took_part, only_complete") != std::string::npos);
  CHECK(complaint("figures: [1, 1, 1]", "figures: [1]").find("record.figures: must be won, lost") !=
        std::string::npos);
  CHECK(complaint("verb: leads", "verb: wins").find("record.verb: must be one of: leads") !=
        std::string::npos);
}

TEST_CASE("the nearest letter of a mean is one, or two when it lies midway") {
  CHECK(nearest_letters(3.638) == std::vector<std::string>{"A-"});
  CHECK(nearest_letters(3.5) == std::vector<std::string>{"A-", "B+"});
  CHECK(nearest_letters(-5) == std::vector<std::string>{"F"});
}
