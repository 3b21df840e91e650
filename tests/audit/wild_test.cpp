// SPDX-License-Identifier: Apache-2.0
#include "harness/audit/wild.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <fmt/format.h>
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
  std::vector<std::string> only;
  std::vector<Verdict> verdicts{Verdict::wrong, Verdict::wrong};
  std::vector<Verdict> alone{Verdict::wrong, Verdict::wrong};
  std::string unbuilt = "nothing has this text";
  bool links = true;
  int compiled = 0;
  std::vector<CellRequest> asked;
  std::vector<CellRequest> asked_alone;
  std::vector<std::string> news;  // how many were graded, and how many wait

  static std::string code_of(const SolutionSource& source) {
    std::string code;
    for (const auto& file : source.files) code += file.content;
    std::erase(code, ' ');
    return code;
  }

  static CellObservation cell_of(const CellRequest& request, const std::vector<Verdict>& verdicts) {
    CellObservation cell;
    cell.key = request.key();
    cell.build.ok = true;
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
      cell.checks.emplace_back().info.id = i == 0 ? "one" : "two";
      cell.checks.back().verdict = verdicts[i];
    }
    return cell;
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
    tools.grade = [&](const std::vector<CellRequest>& requests, const auto& ended) {
      asked = requests;
      // The last one is there first, as where several are graded at a time.
      for (std::size_t i = requests.size(); i-- > 0;) {
        CellObservation cell = cell_of(requests[i], verdicts);
        cell.build.ok = links;
        ended(cell);
      }
    };
    tools.grade_alone = [&](const std::vector<CellRequest>& requests, const auto& ended) {
      asked_alone = requests;
      for (const CellRequest& request : requests) ended(cell_of(request, alone));
    };
    tools.news = [&](const WildReport& report, const WildRow* row) {
      CHECK((!row || row->mutant.name() == report.rows.back().mutant.name()));
      news.push_back(fmt::format("{}+{}", report.rows.size(), report.waiting));
    };
    Challenge challenge;
    challenge.call_seconds = 10;
    challenge.check_seconds = 120;
    return audit_wild(challenge, wild_mutants(bases, 7), bases, equivalents, {wanted, 7, only},
                      tools);
  }
};

using Fate = WildRow::Fate;

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
  CHECK(whole.to_grade + whole.same_code + whole.not_built == whole.drawn);
  CHECK(whole.drawn == static_cast<int>(wild_mutants(meadow.bases, 7).size()));
  CHECK(whole.count(Fate::killed_by_two) == whole.to_grade);
  CHECK(whole.ok());
  meadow.unbuilt = "return(16+1)";
  CHECK(meadow.audit(10'000).not_built == whole.not_built + 1);
  meadow.bases[0].solution.files[2].content += "// a comment\n";
  meadow.bases[1].solution.files[2].content = meadow.bases[0].solution.files[2].content;
  CHECK(meadow.audit(10'000).same_code > whole.same_code);
}

TEST_CASE("what does not link was drawn for nothing, and is no survivor") {
  Meadow meadow;
  meadow.links = false;
  meadow.verdicts = {};
  const WildReport report = meadow.audit(2);
  CHECK(report.rows.empty());
  CHECK(report.to_grade == 0);
  CHECK(report.not_built == 2);
  CHECK(report.problems.empty());
}

TEST_CASE("as many are graded as were wanted, briefly, without races, to the second kill") {
  Meadow meadow;
  const WildReport report = meadow.audit(4);
  CHECK(report.to_grade == 4);
  CHECK(report.rows.size() == 4);
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
  CHECK(survived.count(Fate::survives) == 3);
  CHECK_FALSE(survived.ok());
  meadow.verdicts = {Verdict::passed, Verdict::crashed};
  const WildReport once = meadow.audit(3);
  CHECK(once.count(Fate::killed_by_one) == 3);
  CHECK(once.rows.at(0).killers == std::vector<std::string>{"two"});
  CHECK(once.ok());
}

TEST_CASE("each is told of as soon as it is judged, and belongs to its own mutant") {
  Meadow meadow;
  const WildReport report = meadow.audit(3);
  CHECK(meadow.news == std::vector<std::string>{"1+0", "2+0", "3+0"});
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(Meadow::code_of(report.rows[i].mutant.solution) ==
          Meadow::code_of(meadow.asked[2 - i].solution));
}

TEST_CASE("running out of time on a busy machine kills nothing; not ending does, when alone") {
  Meadow meadow;
  meadow.verdicts = {Verdict::timed_out, Verdict::timed_out};
  meadow.alone = {Verdict::passed, Verdict::passed};
  const WildReport slow = meadow.audit(2);
  CHECK(slow.count(Fate::survives) == 2);
  CHECK(slow.asked_again == 2);
  CHECK(slow.waiting == 0);
  CHECK(slow.count_hung() == 0);
  CHECK(meadow.news == std::vector<std::string>{"0+1", "0+2", "1+1", "2+0"});
  REQUIRE(meadow.asked_alone.size() == 2);
  for (const CellRequest& request : meadow.asked_alone) {
    CHECK(request.challenge.call_seconds == 10);
    CHECK(request.challenge.check_seconds == 120);
    CHECK(request.enough_failures == 2);
    CHECK(request.seed == Seed(7));
  }
  meadow.alone = {Verdict::timed_out, Verdict::timed_out};
  const WildReport endless = meadow.audit(2);
  CHECK(endless.count(Fate::killed_by_two) == 2);
  CHECK(endless.count_hung() == 2);
  meadow.alone = {Verdict::passed, Verdict::wrong};
  CHECK(meadow.audit(2).count(Fate::killed_by_one) == 2);
}

TEST_CASE("who ran out of time and was noticed once is asked again, who was noticed twice is not") {
  Meadow meadow;
  meadow.verdicts = {Verdict::timed_out, Verdict::crashed};
  meadow.alone = {Verdict::passed, Verdict::crashed};
  const WildReport report = meadow.audit(1);
  CHECK(report.asked_again == 1);
  CHECK(report.rows.at(0).killers == std::vector<std::string>{"two"});
  meadow.verdicts = {Verdict::wrong, Verdict::timed_out, Verdict::wrong};
  const WildReport twice = meadow.audit(1);
  CHECK(twice.asked_again == 0);
  CHECK(twice.rows.at(0).killers == std::vector<std::string>{"one", "two"});
  CHECK_FALSE(twice.rows.at(0).hung);
}

TEST_CASE("a mutant has a name by which it alone is asked all checks") {
  const auto mutants = wild_mutants(two_bases(), 7);
  std::set<std::string> names;
  for (const WildMutant& mutant : mutants) CHECK(names.insert(mutant.name()).second);
  Meadow meadow;
  meadow.only = {"honest/second.cpp:2:plus_to_minus"};
  const WildReport report = meadow.audit(1);
  REQUIRE(report.rows.size() == 1);
  CHECK(report.rows[0].mutant.site.after == "long f(long a) { return a - limit() * 5; }");
  CHECK(meadow.asked.at(0).enough_failures == 0);
  meadow.only = {"honest/second.cpp:2:plus_to_times"};
  CHECK_THROWS_WITH_AS(meadow.audit(1),
                       doctest::Contains("did you mean 'honest/second.cpp:2:plus_to_minus'"),
                       UserError);
}

TEST_CASE("an equivalent is no survivor, unless a check notices it or no rule makes it") {
  Meadow meadow;
  meadow.verdicts = {Verdict::passed, Verdict::passed};
  for (const WildRow& row : meadow.audit(2).rows) meadow.equivalents.push_back(known(row.mutant));
  const WildReport report = meadow.audit(3);
  CHECK(report.count(Fate::equivalent) == 2);
  CHECK(report.count(Fate::survives) == 1);
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
    const auto mutants =
        wild_mutants(wild_bases(load_audit_suite(root, id, Device::cpu, entry.make()),
                                read_solution(root / "reference" / id)),
                     7);
    for (const Equivalent& one : equivalents) {
      INFO(id << ": " << one.file << " " << one.rule << ": " << one.after);
      CHECK(std::ranges::any_of(mutants, [&](const auto& mutant) { return says(one, mutant); }));
    }
  }
}
