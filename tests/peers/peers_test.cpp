// SPDX-License-Identifier: Apache-2.0
// What docs/peers.md claims of other graders is read from files that name their sources, and the
// program behind it tells right from wrong.
#include <cmath>
#include <doctest/doctest.h>
#include <filesystem>
#include <limits>

#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/grading/audit_suite.h"
#include "tests/peers/page.h"
#include "tests/peers/referee.h"

using namespace gauntlet;
using peers::accepts;
using peers::Peer;

namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(GAUNTLET_ROOT) / "tests/peers";

const std::string kSmall = R"(
name: small
trials: 1
calls: 1
numbers: normal
shapes: [{rows: 0.5}]
atol: 0.01
rtol: 0.1
rule: both_in_one
matched: 1
refuses_special: true
refuses_zeros: false
indices: as_numbers
sources:
  - of: [trials, calls, numbers, shapes, atol, rtol, rule, matched, refuses_special, refuses_zeros]
    says: all of it
    repository: some/where
    commit: 0123456789012345678901234567890123456789
    file: eval.py
  - of: [indices]
    says: nothing is said
)";

Peer small() {
  return peers::read_peer_text(kSmall, "small.yaml");
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
  return text;
}

bool accepted(const Peer& peer, std::vector<float> got, const std::vector<double>& want) {
  return accepts(peer, peer.regimes.front(), {"y", std::move(got), &want});
}

/// Who rejects it, by name.
std::vector<std::string> rejecting(const peers::Referee& referee, const std::vector<Peer>& all,
                                   const SolutionSource& solution) {
  const std::vector<bool> rejected = referee.rejections(solution);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (rejected[i]) names.push_back(all[i].name);
  return names;
}

const SolutionSource& mutant_called(const AuditSuite& suite, const std::string& name) {
  for (const Mutant& mutant : suite.mutants)
    if (mutant.name == name) return mutant.solution;
  FAIL("no mutant is called ", name);
  return suite.mutants.front().solution;
}

}  // namespace

TEST_CASE("every peer's file is read, and every number in it has a source") {
  const std::vector<Peer> all = peers::read_peers(kFolder);
  CHECK(all.size() == 6);
  const std::string page = read_file(fs::path(GAUNTLET_ROOT) / "docs/peers.md");
  for (const Peer& peer : all)
    CHECK_MESSAGE(page.find("**" + peer.name + "**") < page.size(), peer.name);
  CHECK(peers::with_part(page, "protocols", peers::protocol_list(all)) == page);
}

TEST_CASE("a number without a source, and a source of nothing, are refused") {
  CHECK(small().name == "small");
  for (const auto& change : std::vector<std::pair<std::string, std::string>>{
           {"of: [trials, ", "of: ["},
           {"of: [indices]", "of: [indices, sizes]"},
           {"0123456789012345678901234567890123456789", "main"},
           {"    repository: some/where\n", ""},
           {"rule: both_in_one", "rule: mean"},
           {"trials: 1", "trials: 0"},
           {"rows: 0.5", "rows: 0"}}) {
    INFO(change.first);
    CHECK_THROWS_AS(
        peers::read_peer_text(replaced(kSmall, change.first, change.second), "small.yaml"),
        UserError);
  }
}

TEST_CASE("each rule of comparison decides by its own tolerances") {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  Peer peer = small();
  CHECK(accepted(peer, {1.105f}, {1}));
  CHECK_FALSE(accepted(peer, {1.115f}, {1}));
  CHECK_FALSE(accepted(peer, {kNan}, {1}));
  CHECK_FALSE(accepted(peer, {1, 1}, {1}));
  CHECK(accepted(peer, {0, 0}, {0.009, 0}));
  peer.refuses_zeros = true;
  CHECK_FALSE(accepted(peer, {0, 0}, {0.009, 0}));
  CHECK(accepted(peer, {0, 0}, {0, 0}));
  peer.rule = Peer::Rule::either;
  CHECK_FALSE(accepted(peer, {1.105f}, {1}));
  CHECK(accepted(peer, {1.095f, 0.009f}, {1, 0.001}));
  peer.matched = 0.75;
  CHECK(accepted(peer, {1, 1, 1, 9}, {1, 1, 1, 1}));
  CHECK_FALSE(accepted(peer, {1, 1, 9, 9}, {1, 1, 1, 1}));
  CHECK_FALSE(accepted(peer, {1, 1, 1, kNan}, {1, 1, 1, 1}));
  peer.refuses_special = false;
  CHECK(accepted(peer, {1, 1, 1, kNan}, {1, 1, 1, 1}));
}

TEST_CASE("a table counts kills by peer and together, and honest variants apart") {
  Peer other = small();
  other.name = "other";
  const std::string table = peers::kill_table(
      {small(), other}, {{"first", {{true, false}, {true, true}, {false, false}}, {{false, false}}},
                         {"second", {{false, true}}, {{false, true}}}});
  CHECK(table ==
        "| Rejected by | first | second | all mutants | honest variants |\n"
        "| --- | --: | --: | --: | --: |\n"
        "| small | 2 | 0 | 2 | 0 of 2 |\n"
        "| other | 1 | 1 | 2 | 1 of 2 |\n"
        "| any of them | 2 | 1 | 3 | 1 of 2 |\n"
        "| *mutants tried* | 3 | 1 | 4 | |\n");
  CHECK(peers::with_part("a\n<!-- begin t -->\nold\n<!-- end t -->\nb", "t", "new") ==
        "a\n<!-- begin t -->\n\nnew\n<!-- end t -->\nb");
  CHECK_THROWS_AS(peers::with_part("a", "t", "new"), UserError);
}

TEST_CASE("all peers reject a gross mutant, none a mutant of a rare corner, none right code") {
  const fs::path root = GAUNTLET_ROOT;
  const GradingEnvironment environment{root, fs::path(GAUNTLET_BIN) / "gauntlet-worker",
                                       root / "build/cache", "test"};
  const std::string id = "layernorm_backward";
  const auto entry = std::ranges::find(all_graders(), id, &GraderEntry::id);
  REQUIRE(entry != all_graders().end());
  const AuditSuite suite = load_audit_suite(root, id, Device::cpu, entry->make());
  const std::vector<Peer> all = peers::read_peers(kFolder);
  const peers::Referee referee(environment, load_challenge(root, id), all);
  CHECK(rejecting(referee, all, mutant_called(suite, "xhat_term_dropped")).size() == all.size());
  CHECK(rejecting(referee, all, mutant_called(suite, "naive_variance")).empty());
  CHECK(rejecting(referee, all, suite.honest.front().solution).empty());
}
