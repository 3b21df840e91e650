// SPDX-License-Identifier: Apache-2.0
#include "harness/audit/wild.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <set>

#include "harness/build/challenge.h"
#include "harness/core/error.h"
#include "harness/core/files.h"

using namespace gauntlet;

namespace {

constexpr const char* kShared = "inline long limit() { return 16; }\n";

WildBase base(const std::string& name, const std::string& content) {
  WildBase made{name, "honest", name + ".cpp", {}};
  made.solution.files = {
      {"common.h", kShared}, {"lonely.h", "inline int n = 3;\n"}, {"solution.cpp", content}};
  return made;
}

std::vector<WildBase> two_bases() {
  return {
      base("first", "#include \"common.h\"\nlong f(long a) { return a < limit() || a == 3; }\n"),
      base("second", "#include \"common.h\"\nlong f(long a) { return a + limit() * 5; }\n")};
}

/// Nothing is compiled: code is the text without the spaces. Mutants are asked two checks.
struct Meadow {
  std::vector<WildBase> bases = two_bases();
  std::vector<Equivalent> equivalents;
  std::vector<Verdict> verdicts{Verdict::wrong, Verdict::wrong};
  std::string unbuilt = "nothing has this text";
  int compiled = 0;
  std::vector<CellRequest> asked;

  static std::string code_of(const SolutionSource& source) {
    std::string code;
    for (const auto& file : source.files) code += file.content;
    std::erase(code, ' ');
    return code;
  }

  WildReport audit(int wanted) {
    WildTools tools;
    tools.assemble = [&](const auto& sources) {
      std::vector<std::string> codes;
      for (const SolutionSource* source : sources) {
        const std::string code = code_of(*source);
        codes.push_back(code.find(unbuilt) == std::string::npos ? code : "");
        ++compiled;
      }
      return codes;
    };
    tools.grade = [&](const std::vector<CellRequest>& requests) {
      asked = requests;
      std::vector<CellObservation> cells(requests.size());
      for (CellObservation& cell : cells) {
        cell.build.ok = true;
        for (std::size_t i = 0; i < verdicts.size(); ++i) {
          cell.checks.emplace_back().info.id = i == 0 ? "one" : "two";
          cell.checks.back().verdict = verdicts[i];
        }
      }
      return cells;
    };
    Challenge challenge;
    challenge.call_seconds = 10;
    challenge.check_seconds = 120;
    return audit_wild(challenge, wild_mutants(bases, 7), bases, equivalents, wanted, 7, tools);
  }
};

Equivalent known(const WildMutant& mutant) {
  return {mutant.file,       mutant.rule,       mutant.site.before,
          mutant.site.after, mutant.site.place, "nobody looks"};
}

}  // namespace

TEST_CASE("a seed draws the same mutants in the same order, another one others") {
  const auto rules_of = [](const Seed& seed) {
    std::vector<std::string> rules;
    for (const WildMutant& one : wild_mutants(two_bases(), seed)) rules.push_back(one.rule);
    return rules;
  };
  CHECK(rules_of(7) == rules_of(7));
  CHECK(rules_of(7) != rules_of(8));
  auto sorted = rules_of(7);
  auto others = rules_of(8);
  std::ranges::sort(sorted);
  std::ranges::sort(others);
  CHECK(sorted == others);
}

TEST_CASE("mutants go round the files and rules, and headers that nobody includes have none") {
  const auto mutants = wild_mutants(two_bases(), 7);
  REQUIRE(mutants.size() > 9);
  std::set<std::string> files;
  for (std::size_t i = 0; i < 3; ++i) files.insert(mutants[i].file);
  CHECK(files == std::set<std::string>{"honest/common.h", "honest/first.cpp", "honest/second.cpp"});
  std::set<std::string> of_first;
  for (std::size_t i = 0; i < 9; ++i)
    if (mutants[i].file == "honest/first.cpp") CHECK(of_first.insert(mutants[i].rule).second);
  CHECK(std::ranges::none_of(mutants,
                             [](const auto& one) { return one.file.ends_with("lonely.h"); }));
}

TEST_CASE("code that was seen before and text that does not compile are drawn for nothing") {
  Meadow meadow;
  const WildReport whole = meadow.audit(10'000);
  CHECK(whole.graded + whole.same_code + whole.not_built == whole.drawn);
  CHECK(whole.drawn == static_cast<int>(wild_mutants(meadow.bases, 7).size()));
  CHECK(whole.killed_by_two == whole.graded);
  CHECK(whole.ok());
  meadow.unbuilt = "return(16+1)";
  CHECK(meadow.audit(10'000).not_built == whole.not_built + 1);
  meadow.bases[0].solution.files[2].content += "// a comment\n";
  meadow.bases[1].solution.files[2].content = meadow.bases[0].solution.files[2].content;
  CHECK(meadow.audit(10'000).same_code > whole.same_code);
}

TEST_CASE("as many are graded as were wanted, briefly, without races, to the second kill") {
  Meadow meadow;
  const WildReport report = meadow.audit(4);
  CHECK(report.graded == 4);
  REQUIRE(meadow.asked.size() == 4);
  for (const CellRequest& request : meadow.asked) {
    CHECK(request.enough_failures == 2);
    CHECK(request.subject);
    CHECK(request.audit);
    CHECK_FALSE(request.races);
    CHECK(request.seed == Seed(7));
    CHECK(request.challenge.call_seconds < 10);
    CHECK(request.challenge.check_seconds < 30);
  }
}

TEST_CASE("what no check notices survives, and what one alone notices is told apart") {
  Meadow meadow;
  meadow.verdicts = {Verdict::passed, Verdict::unmeasured};
  const WildReport survived = meadow.audit(3);
  CHECK(survived.count_survivors() == 3);
  CHECK_FALSE(survived.ok());
  meadow.verdicts = {Verdict::passed, Verdict::crashed};
  const WildReport once = meadow.audit(3);
  CHECK(once.count_killed_by_one() == 3);
  CHECK(once.rows.at(0).killer == "two");
  CHECK(once.ok());
}

TEST_CASE("an equivalent is no survivor, unless a check notices it or no rule makes it") {
  Meadow meadow;
  meadow.verdicts = {Verdict::passed, Verdict::passed};
  for (const auto& row : meadow.audit(2).rows) meadow.equivalents.push_back(known(row.mutant));
  const WildReport report = meadow.audit(3);
  CHECK(report.count_equivalent() == 2);
  CHECK(report.count_survivors() == 1);
  CHECK(report.problems.empty());
  ++meadow.equivalents[0].place;
  const WildReport stale = meadow.audit(3);
  REQUIRE(stale.problems.size() == 1);
  CHECK(stale.problems[0].starts_with("equivalents.yaml names what no rule makes: honest/"));
  --meadow.equivalents[0].place;
  meadow.verdicts = {Verdict::wrong, Verdict::passed};
  CHECK(meadow.audit(1).problems.at(0).starts_with("one notices what equivalents.yaml says"));
}

TEST_CASE("a check that breaks has judged nothing") {
  Meadow meadow;
  meadow.verdicts = {Verdict::broken, Verdict::wrong};
  CHECK_FALSE(meadow.audit(1).ok());
}

TEST_CASE("an equivalent says why") {
  const ScratchFolder folder("equivalents");
  const auto file = folder.path() / "equivalents.yaml";
  CHECK(load_equivalents(file).empty());
  const std::string entry =
      "equivalents:\n  - {file: f, rule: r, line: a < b, after: a <= b, place: 2, reason: ";
  write_file(file, entry + "equal ones end alike}\n");
  REQUIRE(load_equivalents(file).size() == 1);
  CHECK(load_equivalents(file)[0].place == 2);
  write_file(file, entry + "''}\n");
  CHECK_THROWS_AS(load_equivalents(file), UserError);
}

TEST_CASE("every equivalent of every challenge is a change that a rule makes") {
  for (const GraderEntry& entry : all_graders()) {
    const std::string id(entry.id);
    const std::filesystem::path root = GAUNTLET_ROOT;
    const auto equivalents = load_equivalents(root / "graders" / id / "equivalents.yaml");
    if (equivalents.empty()) continue;
    const auto mutants = wild_mutants(wild_bases(load_audit_suite(root, id, entry.make()),
                                                 read_solution(root / "reference" / id)),
                                      7);
    for (const Equivalent& one : equivalents) {
      INFO(id << ": " << one.file << " " << one.rule << ": " << one.after);
      CHECK(std::ranges::any_of(mutants, [&](const auto& mutant) { return says(one, mutant); }));
    }
  }
}
