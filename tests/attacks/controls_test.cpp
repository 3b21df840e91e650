// SPDX-License-Identifier: Apache-2.0
// Every attack succeeds where what stops it is missing. Without this, a wall that does nothing and
// an attack that does nothing would look the same.
#include <algorithm>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/format.h>
#include <sstream>

#include "harness/attacks/effects.h"
#include "harness/attacks/testbed.h"
#include "naive_judge.h"

using namespace gauntlet;
using gauntlet::test::NaiveJudge;

namespace {

const AttackCorpus& corpus() {
  static const AttackCorpus all = load_attacks(GAUNTLET_ROOT);
  return all;
}

GradingEnvironment environment() {
  const std::filesystem::path root = GAUNTLET_ROOT;
  return {root,
          std::filesystem::path(GAUNTLET_BIN) / "gauntlet-worker",
          root / "build/cache",
          "test",
          {},
          {}};
}

/// What each attack of the walls came to with them down, "" when it succeeded. As an ordinary user,
/// so that no attack ever runs as root.
std::string failures_without_walls() {
  Testbed testbed(environment(), corpus());
  return testbed.as_ordinary_user([&] {
    testbed.settle();
    std::string failures;
    for (const Attack& attack : corpus().attacks) {
      if (attack.stopped_by.empty()) continue;
      const Evidence seen = testbed.try_attack(attack, without(attack.stopped_by));
      if (!succeeded(attack.effect, seen))
        failures += fmt::format("{} fails even so: {}: {}\n", attack.name, name_of(seen.verdict),
                                seen.summary);
    }
    return failures;
  });
}

}  // namespace

TEST_CASE("every attack on a wall succeeds when the wall is down") {
  std::istringstream failures(failures_without_walls());
  for (std::string line; std::getline(failures, line);) FAIL_CHECK(line);
}

TEST_CASE("every forgery is taken for the real thing by a judge who trusts too much") {
  Testbed testbed(environment(), corpus());
  const std::vector<std::string> known = NaiveJudge::known_trusts();
  for (const Attack& attack : corpus().attacks)
    for (const std::string& trust : attack.fools) {
      CAPTURE(attack.name);
      CAPTURE(trust);
      REQUIRE(std::find(known.begin(), known.end(), trust) != known.end());
      const BuiltSolution built =
          build_solution(testbed.solution(attack.text), testbed.challenge(), testbed.cache());
      REQUIRE_MESSAGE(built.record.ok, built.record.messages);
      CHECK_MESSAGE(NaiveJudge(trust).fooled_by(built.library), attack.name, " and ", trust);
      const NaiveJudge careful(attack.effect.kind == "faster" ? "own_clock" : "");
      CHECK_MESSAGE(!careful.fooled_by(built.library), attack.name, " and a careful judge");
    }
}

TEST_CASE("the naive judges accept an honest solution") {
  Testbed testbed(environment(), corpus());
  for (const OddProgram& program : corpus().honest) {
    if (program.name != "plain") continue;
    const auto library =
        build_solution(testbed.solution(program.text), testbed.challenge(), testbed.cache())
            .library;
    CHECK(NaiveJudge("").fooled_by(library));
    for (const std::string& trust : NaiveJudge::known_trusts())
      CHECK_MESSAGE(NaiveJudge(trust).fooled_by(library), trust);
  }
}

TEST_CASE("the corpus is as large as it says, and names everything") {
  const AttackCorpus& all = corpus();
  CHECK(all.attacks.size() >= 80);
  CHECK(all.honest.size() >= 24);
  std::vector<std::string> classes;
  for (const Attack& attack : all.attacks) classes.push_back(attack.category);
  std::sort(classes.begin(), classes.end());
  CHECK(std::unique(classes.begin(), classes.end()) - classes.begin() >= 45);
}

TEST_CASE("every wall is named by an attack, or says why none can name it") {
  for (const Wall& wall : all_walls()) {
    const bool named =
        std::any_of(corpus().attacks.begin(), corpus().attacks.end(), [&](const Attack& attack) {
          return std::find(attack.stopped_by.begin(), attack.stopped_by.end(), wall.name) !=
                 attack.stopped_by.end();
        });
    INFO(wall.name);
    CHECK(named == wall.no_attack.empty());
  }
}

TEST_CASE("an attack that names no wall is refused, and so is a frame without a place for it") {
  const ScratchFolder root("corpus");
  const std::filesystem::path folder = root.path() / "tests" / "attacks";
  std::filesystem::create_directories(folder / "programs");
  const auto load = [&](const std::string& frame, const std::string& wall) {
    write_file(folder / "programs.yaml",
               "challenge: c\ncheck: d\ntopics: [one]\nframes:\n  act: \"" + frame + "\"\n");
    write_file(folder / "one.yaml",
               "attacks:\n  - name: a\n    class: b\n    goal: g\n    effect: leak\n"
               "    verdicts: [passed]\n    stopped_by: [" +
                   wall + "]\n    before: int x;\n    act: x = 1;\n");
    return load_attacks(root.path());
  };
  const std::string frame = "{before} void f() { {statements} }";
  CHECK(load(frame, "seccomp").attacks[0].text == "int x; void f() { x = 1; }");
  CHECK_THROWS_WITH_AS(load(frame, "limits"), doctest::Contains("no wall is called 'limits'"),
                       UserError);
  CHECK_THROWS_WITH_AS(load(frame, "freeze"), doctest::Contains("no attack can name freeze: "),
                       UserError);
  CHECK_THROWS_WITH_AS(load("{before}", "seccomp"), doctest::Contains("{statements}"), UserError);
}
