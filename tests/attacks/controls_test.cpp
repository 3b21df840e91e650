// SPDX-License-Identifier: Apache-2.0
// Every attack succeeds where what stops it is missing. Without this, a wall that does nothing and
// an attack that does nothing would look the same.
#include <algorithm>
#include <deque>
#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/format.h>
#include <sstream>
#include <unistd.h>
#include <vector>

#include "harness/attacks/attack_matrix.h"
#include "harness/attacks/effects.h"
#include "harness/attacks/testbed.h"
#include "harness/build/cuda_compiler.h"
#include "harness/core/machine.h"

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

/// The attacks of the walls, dealt out to as many lanes as can be at work at once, and a last one
/// for those whose effect is seen on the whole machine.
std::vector<AttackCorpus> lanes() {
  const std::size_t at_once = geteuid() == 0 ? static_cast<std::size_t>(this_machine().cores) : 1;
  std::vector<AttackCorpus> all(at_once + 1);
  for (AttackCorpus& lane : all) {
    lane.challenge = corpus().challenge;
    lane.check = corpus().check;
    lane.headers = corpus().headers;
  }
  std::size_t next = 0;
  for (const Attack& attack : corpus().attacks) {
    if (attack.stopped_by.empty()) continue;
    if (attack.device == Device::cuda && !find_cuda_compiler()) {
      MESSAGE(attack.name, ": ", kNoCudaCompiler);
      continue;
    }
    const bool alone = attack.effect.kind == "shared_mib";
    all[alone ? at_once : next++ % at_once].attacks.push_back(attack);
  }
  return all;
}

/// What each attack came to with its walls down, "" when it succeeded. As an ordinary user, so that
/// no attack ever runs as root.
ForkedTask try_without_walls(Testbed& testbed, const AttackCorpus& lane) {
  return testbed.send(
      [&] {
        testbed.settle();
        std::string failures;
        for (const Attack& attack : lane.attacks) {
          const Evidence seen = testbed.try_attack(attack, without(attack.stopped_by));
          if (!succeeded(attack.effect, seen))
            failures += fmt::format("{} fails even so: {}: {}\n", attack.name,
                                    name_of(seen.verdict), seen.summary);
        }
        return failures;
      },
      true);
}

std::string failures_without_walls() {
  const std::vector<AttackCorpus> all = lanes();
  std::deque<Testbed> testbeds;
  for (const AttackCorpus& lane : all)
    testbeds.emplace_back(environment(), lane, this_machine().cores);
  std::vector<ForkedTask> at_once;
  for (std::size_t i = 0; i + 1 < all.size(); ++i)
    at_once.push_back(try_without_walls(testbeds[i], all[i]));
  std::string failures;
  for (ForkedTask& task : at_once) failures += task.result();
  return failures + try_without_walls(testbeds.back(), all.back()).result();
}

}  // namespace

TEST_CASE("every attack on a wall succeeds when the wall is down") {
  std::istringstream failures(failures_without_walls());
  for (std::string line; std::getline(failures, line);) FAIL_CHECK(line);
}

TEST_CASE("a brief audit tries on one tier alone what no wall stops") {
  AttackCorpus two = corpus();
  const auto keep_one = [&](bool walled) {
    const auto found = std::find_if(two.attacks.begin(), two.attacks.end(), [&](const Attack& one) {
      return one.device == Device::cpu && one.stopped_by.empty() != walled &&
             one.effect.kind == "leak";
    });
    REQUIRE(found != two.attacks.end());
    return *found;
  };
  two.attacks = {keep_one(false), keep_one(true)};
  two.honest.clear();
  const AttackMatrix seen = run_attacks(environment(), two, true, [](const std::string&) {});
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
