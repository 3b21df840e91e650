// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/format.h>
#include <vector>

#include "harness/attacks/attack_matrix.h"
#include "harness/core/error.h"
#include "harness/core/files.h"

using namespace gauntlet;

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

/// One that leaks, and names walls or names none.
Attack an_attack(bool walled) {
  const auto found = std::ranges::find_if(corpus().attacks, [&](const Attack& one) {
    return one.device == Device::cpu && one.stopped_by.empty() != walled &&
           one.effect.kind == "leak";
  });
  REQUIRE(found != corpus().attacks.end());
  return *found;
}

/// What a brief audit makes of these and of nothing honest.
AttackMatrix matrix_of(std::vector<Attack> attacks) {
  AttackCorpus few = corpus();
  few.attacks = std::move(attacks);
  few.honest.clear();
  return run_attacks(environment(), few, true, [](const std::string&) {});
}

}  // namespace

TEST_CASE("a brief audit tries on one tier alone what no wall stops") {
  const AttackMatrix seen = matrix_of({an_attack(false), an_attack(true)});
  REQUIRE(seen.rows.size() == 2);
  const auto& unwalled = seen.rows[0].cells;
  const auto& walled = seen.rows[1].cells;
  REQUIRE(unwalled.size() == walled.size());
  for (std::size_t tier = 0; tier < walled.size(); ++tier) {
    CHECK(walled[tier].tried);
    CHECK(unwalled[tier].tried == (tier == 0));
  }
  CHECK(seen.successes() == 0);
  if (walled.size() < 2) MESSAGE("this machine has one tier: nothing is left out");
}

TEST_CASE("an attack on a wall has to succeed without it: one that does nothing is a fault") {
  Attack harmless = an_attack(true);
  harmless.name = "harmless";
  harmless.text = corpus().honest.front().text;
  harmless.verdicts = {Verdict::passed};
  const AttackMatrix seen = matrix_of({an_attack(false), an_attack(true), harmless});
  REQUIRE(seen.rows.size() == 3);
  CHECK_FALSE(seen.rows[0].control.tried);
  CHECK(seen.rows[1].control.problem == "");
  CHECK(seen.rows[2].control.problem.find("fails without ") == 0);
  CHECK(seen.controls() == 2);
  CHECK(seen.harmless() == 1);
  CHECK(seen.problems() == 1);
  CHECK_FALSE(seen.ok());
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

TEST_CASE("a frame or a source for CUDA makes a program for CUDA") {
  std::size_t attacks = 0;
  for (const Attack& attack : corpus().attacks)
    if (attack.device == Device::cuda) {
      ++attacks;
      CHECK(attack.text.find("honest_on_device.cuh") != std::string::npos);
    }
  CHECK(attacks >= 40);
  CHECK(std::ranges::count(corpus().honest, Device::cuda, &OddProgram::device) >= 4);
}
