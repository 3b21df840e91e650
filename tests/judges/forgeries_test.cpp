// SPDX-License-Identifier: Apache-2.0
// Forgeries aim at who judges, and our walls do not stop them. Each is taken for the real thing by
// a judge who trusts in one thing too much, and by no careful one.
#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>

#include "harness/attacks/testbed.h"
#include "naive_judge.h"

using namespace gauntlet;
using gauntlet::test::NaiveJudge;

namespace {

const AttackCorpus& corpus() {
  static const AttackCorpus all = load_attacks(GAUNTLET_ROOT);
  return all;
}

Testbed testbed() {
  const std::filesystem::path root = GAUNTLET_ROOT;
  const std::filesystem::path worker = std::filesystem::path(GAUNTLET_BIN) / "gauntlet-worker";
  return Testbed({root, worker, root / "build/cache", "test", {}, {}}, corpus());
}

template <class Program>
std::filesystem::path library(const Testbed& testbed, const Program& program) {
  const BuiltSolution built = build_subject(testbed.solution(program.device, program.text),
                                            testbed.challenge(), testbed.cache());
  REQUIRE_MESSAGE(built.record.ok, built.record.messages);
  return built.library;
}

}  // namespace

TEST_CASE("every forgery is taken for the real thing by a judge who trusts too much") {
  const Testbed shop = testbed();
  const std::vector<std::string> known = NaiveJudge::known_trusts();
  for (const Attack& attack : corpus().attacks)
    for (const std::string& trust : attack.fools) {
      CAPTURE(attack.name);
      CAPTURE(trust);
      REQUIRE(std::find(known.begin(), known.end(), trust) != known.end());
      const std::filesystem::path forged = library(shop, attack);
      CHECK_MESSAGE(NaiveJudge(trust).fooled_by(forged), attack.name, " and ", trust);
      const NaiveJudge careful(attack.effect.kind == "faster" ? "own_clock" : "");
      CHECK_MESSAGE(!careful.fooled_by(forged), attack.name, " and a careful judge");
    }
}

TEST_CASE("the naive judges accept an honest solution") {
  const Testbed shop = testbed();
  for (const OddProgram& program : corpus().honest) {
    if (program.name != "plain") continue;
    const std::filesystem::path honest = library(shop, program);
    CHECK(NaiveJudge("").fooled_by(honest));
    for (const std::string& trust : NaiveJudge::known_trusts())
      CHECK_MESSAGE(NaiveJudge(trust).fooled_by(honest), trust);
  }
}
