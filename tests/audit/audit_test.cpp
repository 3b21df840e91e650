// SPDX-License-Identifier: Apache-2.0
#include "harness/audit/audit.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <map>
#include <set>
#include <stdexcept>
#include <string>

using namespace gauntlet;

namespace {

/// A suite of one mutant, which two checks must kill, and the reference.
struct Bench {
  Challenge challenge;
  Grader grader;
  AuditSuite suite;
  AuditOptions options;
  std::map<std::string, std::vector<Verdict>> verdicts;  // of the mutant, by check and seed
  std::string summary = "a summary";                     // of what every check says
  std::vector<CellRequest> asked;

  Bench() {
    challenge.id = "example";
    for (const char* id : {"first", "second"}) {
      grader.checks.emplace_back().id = id;
      grader.checks.back().severity = Severity::critical;
      verdicts[id] = {Verdict::wrong};
    }
    suite.mutants = {{"m", "a fault", {"first", "second"}, {}, {}, {}}};
    suite.honest = {{"reference", "", {}, true}};
    suite.honest_seeds = 1;
    options.seed = 40;
  }

  Verdict verdict(const CellRequest& request, const std::string& check) const {
    if (request.null_solution) return Verdict::wrong;
    if (request.submission != "m") return Verdict::passed;
    const auto& all = verdicts.at(check);
    return all.at(std::min<std::size_t>(request.seed->bytes().back() - 40u, all.size() - 1));
  }

  AuditReport audit() {
    return audit_suite(challenge, grader, suite, options, [&](const auto& requests) {
      std::vector<CellObservation> cells;
      for (const CellRequest& request : requests) {
        asked.push_back(request);
        CellObservation& cell = cells.emplace_back();
        cell.build.ok = true;
        for (const Check& check : grader.checks) {
          const auto& only = request.only_checks;
          if (!only.empty() && std::find(only.begin(), only.end(), check.id) == only.end())
            continue;
          CheckObservation& seen = cell.checks.emplace_back();
          seen.info.id = check.id;
          seen.verdict = verdict(request, check.id);
          seen.finding.emplace().summary = summary;
        }
      }
      return cells;
    });
  }

  AuditRow mutant() {
    for (AuditRow& row : audit().rows)
      if (row.kind == AuditRow::Kind::mutant) return row;
    throw std::runtime_error("no mutant");
  }
};

constexpr auto kMiss = Verdict::passed;
constexpr auto kKill = Verdict::wrong;

}  // namespace

TEST_CASE("a mutant that its checks kill at once is asked once") {
  Bench bench;
  CHECK(bench.audit().ok());
  CHECK(bench.asked.size() == 1 + kNullKinds + 1);
}

TEST_CASE("a check that missed is asked with two seeds more, and must kill with both") {
  Bench bench;
  bench.verdicts["second"] = {kMiss, kKill, kKill};
  const AuditRow twice = bench.mutant();
  CHECK(twice.problems.empty());
  CHECK(twice.failed_checks == std::vector<std::string>{"first"});
  CHECK(in_words(twice.named[0]) == "first");
  CHECK(in_words(twice.named[1]) == "second (2 of 3 seeds)");
  CHECK(bench.asked.back().only_checks == std::vector<std::string>{"second"});
  CHECK(bench.asked.back().seed == 42);

  bench.verdicts["second"] = {kMiss, kKill, kMiss};
  CHECK(bench.mutant().problems ==
        std::vector<std::string>{"second kills it with 1 of 3 seeds, want two of three"});
  bench.verdicts["second"] = {kMiss};
  CHECK(bench.mutant().problems.size() == 1);
}

TEST_CASE("honest variants are tried with the suite's seeds, with three when brief, or as wanted") {
  Bench bench;
  const auto honest_runs = [&] {
    const auto rows = bench.audit().rows;
    return std::count_if(rows.begin(), rows.end(),
                         [](const AuditRow& row) { return row.kind == AuditRow::Kind::reference; });
  };
  bench.suite.honest_seeds = 20;
  CHECK(honest_runs() == 20);
  bench.options.brief = true;
  CHECK(honest_runs() == 3);
  bench.suite.honest_seeds = 2;
  CHECK(honest_runs() == 2);
  bench.options.honest_seeds = 5;
  CHECK(honest_runs() == 5);
}

TEST_CASE("the fewest mutants name every check that all of them name") {
  Bench bench;
  bench.suite.mutants = {{"m", "", {"first"}, {}, {}, {}},
                         {"both", "", {"first", "second"}, {}, {}, {}},
                         {"n", "", {"second"}, {}, {}, {}}};
  const auto mutants = [&] {
    std::vector<std::string> names;
    for (const AuditRow& row : bench.audit().rows)
      if (row.kind == AuditRow::Kind::mutant) names.push_back(row.name);
    return names;
  };
  CHECK(mutants().size() == 3);
  bench.options.fewest = true;
  CHECK(mutants() == std::vector<std::string>{"both"});
  bench.suite.mutants.erase(bench.suite.mutants.begin() + 1);
  CHECK(mutants() == std::vector<std::string>{"m", "n"});
}

TEST_CASE("a sample follows from the grader's digest alone, and in time is all") {
  const auto drawn = [](int count, const std::string& digest) {
    std::string names;
    for (const std::size_t place : sample_of(6, count, digest)) names += "abcdef"[place];
    return names;
  };
  CHECK(drawn(6, "one") == "abcdef");
  CHECK(drawn(100, "one") == "abcdef");
  CHECK(drawn(2, "one") == drawn(2, "one"));
  std::set<std::string> samples;
  std::set<char> tried;
  for (int n = 0; n < 40; ++n) {
    const std::string sample = drawn(2, std::to_string(n));
    REQUIRE(sample.size() == 2);
    CHECK(sample[0] < sample[1]);
    samples.insert(sample);
    tried.insert(sample.begin(), sample.end());
  }
  CHECK(samples.size() > 8);
  CHECK(tried.size() == 6);
}

TEST_CASE("of the least, right solutions share the checks out, and nulls get what caps a grade") {
  Bench bench;
  bench.suite.honest.push_back({"one", "", {}, false});
  bench.options.fewest = true;
  bench.audit();
  std::map<std::string, std::vector<std::string>> asked;
  for (const CellRequest& request : bench.asked) asked[request.submission] = request.only_checks;
  CHECK(asked.at("reference") == std::vector<std::string>{"first"});
  CHECK(asked.at("one") == std::vector<std::string>{"second"});
  CHECK(asked.at("zeros") == std::vector<std::string>{"first", "second"});
}

TEST_CASE("mutants can be asked with many seeds, by the checks that they name") {
  Bench bench;
  bench.options.mutant_seeds = 6;
  bench.verdicts["first"] = {kKill, kMiss, kKill, kMiss, kKill, kKill};
  bench.verdicts["second"] = {kKill, kMiss, kKill, kMiss, kKill, kMiss};
  const AuditRow row = bench.mutant();
  CHECK(row.named[0].killed == 4);
  CHECK(row.named[0].asked == 6);
  CHECK(row.problems ==
        std::vector<std::string>{"second kills it with 3 of 6 seeds, want two of three"});
}

TEST_CASE("a check that breaks is the grader's fault, and no seed more will do") {
  Bench bench;
  bench.verdicts["second"] = {Verdict::broken, kKill, kKill};
  CHECK(bench.mutant().problems == std::vector<std::string>{"second broke: a summary"});
  CHECK(bench.asked.size() == 1 + kNullKinds + 1);
  bench.verdicts["second"] = {kMiss, Verdict::broken, kKill};
  CHECK(bench.mutant().problems == std::vector<std::string>{"second broke: a summary"});
}

TEST_CASE("what lacks a function of the contract is no mutant, whatever refuses it") {
  Bench bench;
  bench.verdicts["first"] = bench.verdicts["second"] = {Verdict::rejected};
  CHECK(bench.audit().ok());
  bench.summary = "does not define `work`; it exports nothing";
  CHECK_FALSE(bench.audit().ok());
  CHECK(bench.mutant().problems.size() == 1);
}

TEST_CASE("an honest variant that a check rejects makes an audit fail") {
  Bench bench;
  bench.suite.honest.insert(bench.suite.honest.begin(), {"m", "named as the mutant", {}});
  const AuditReport report = bench.audit();
  CHECK_FALSE(report.ok());
  CHECK(report.idle_checks.empty());
}

TEST_CASE("the reference is known by what is said of it, wherever it stands") {
  Bench bench;
  bench.suite.honest.push_back({"other", "stands last", {}});
  using Kind = AuditRow::Kind;
  for (const AuditRow& row : bench.audit().rows) {
    if (row.name == "reference") CHECK(row.kind == Kind::reference);
    if (row.name == "other") CHECK(row.kind == Kind::honest);
  }
}

TEST_CASE("single contestants can be asked for, and a name that nobody has is an error") {
  Bench bench;
  bench.options.only = {"m"};
  const AuditReport report = bench.audit();
  REQUIRE(report.rows.size() == 1);
  CHECK(report.rows[0].name == "m");
  CHECK(report.ok());
  CHECK(report.idle_checks.empty());

  bench.options.only = {"m", "referense"};
  CHECK_THROWS_WITH(bench.audit(),
                    "no mutant or honest variant is called 'referense', did you mean 'reference'?");
}

TEST_CASE("contestants of another device are built as submissions for it are") {
  Bench bench;
  bench.options.device = Device::cuda;
  const AuditReport report = bench.audit();
  CHECK(report.device == Device::cuda);
  for (const CellRequest& request : bench.asked) {
    CHECK_FALSE(request.subject);
    if (request.null_solution) CHECK(request.solution.device == Device::cuda);
  }
}

TEST_CASE("mutants are built lightly, what no check may fail as submissions are") {
  Bench bench;
  bench.audit();
  for (const CellRequest& request : bench.asked)
    CHECK(request.subject == (request.submission == "m"));
}
