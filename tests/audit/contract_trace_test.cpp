// SPDX-License-Identifier: Apache-2.0
#include "harness/audit/contract_trace.h"

#include <doctest/doctest.h>
#include <filesystem>

#include "harness/cli/exit_codes.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/text.h"
#include "harness/grading/grader.h"
#include "tests/cli/checkout.h"
#include "tests/support/text.h"

using namespace gauntlet;

namespace {

using Problems = std::vector<std::string>;

const char* const kContract = R"(
/* Doubles a number.
 *
 *   y = 2
 *       * x
 *
 * x is finite. Returns 0,
 * or -1 for x missing.
 */
typedef struct {
  const float* x; /* read */
  float* y;       // written
  int flags;
} Args;
)";

const char* const kTrace = R"(
statements:
  - explains: Doubles a number.
  - {id: formula, says: "y = 2 * x", checks: [doubles], mutants: [triples]}
  - {id: finite, says: x is finite, not_asked: it binds the caller}
  - {id: status, says: "Returns 0, or -1 for x missing.", checks: [refuses, doubles],
     mutants: [lenient]}
  - explains: "const float* x; read float* y; written"
beyond:
  - {check: speed, reason: the prompt asks for it}
)";

std::string with(std::string text, const std::string& old, const std::string& fresh) {
  const std::size_t at = text.find(old);
  REQUIRE(at != std::string::npos);
  return text.replace(at, old.size(), fresh);
}

ContractTrace trace_of(const std::string& yaml, const std::string& contract = kContract) {
  ContractSources sources{contract, yaml, "contract.yaml", {"doubles", "refuses", "speed"}, {}};
  sources.mutants.resize(2);
  sources.mutants[0].name = "triples";
  sources.mutants[0].killers = {"doubles", "speed"};
  sources.mutants[1].name = "lenient";
  sources.mutants[1].killers = {"refuses", "speed"};
  return trace_contract(sources);
}

Problems problems_with(const std::string& old, const std::string& fresh) {
  return trace_of(with(kTrace, old, fresh)).problems;
}

const char* const kNeither = "of contract.h is neither a statement nor an explanation: ";

}  // namespace

TEST_CASE("a contract whose every word is traced has no problems") {
  const ContractTrace trace = trace_of(kTrace);
  CHECK(trace.problems == Problems{});
  REQUIRE(trace.statements.size() == 3);
  CHECK(trace.statements[0].line == 4);
  CHECK(trace.statements[2].line == 7);
}

TEST_CASE("words of a comment that no entry quotes are a problem") {
  const auto neither = [](int line, const std::string& words) {
    return Problems{fmt::format("line {} {}\"{}\"", line, kNeither, words)};
  };
  CHECK(problems_with("  - explains: Doubles a number.\n", "") == neither(2, "Doubles a number."));
  CHECK(problems_with("read float* y; written", "read") == neither(12, "written"));
  CHECK(problems_with("const float* x; read float* y;", "float* y;") == neither(11, "read"));
  CHECK(trace_of(kTrace, with(kContract, "finite.", "finite. It is new.")).problems ==
        neither(7, "It is new."));
  CHECK(trace_of(kTrace, with(kContract, "int flags;", "int flags; /* new */")).problems ==
        neither(13, "new"));
}

TEST_CASE("an entry quotes whole words that stand in the contract, in its order") {
  CHECK(problems_with("x is finite", "x is infinite").front() ==
        "contract.h does not say \"x is infinite\"");
  CHECK(problems_with("Doubles a number", "oubles a number").front() ==
        "contract.h does not say \"oubles a number.\"");
  CHECK(problems_with("x is finite", "x is finit").front() ==
        "contract.h does not say \"x is finit\"");
  CHECK(problems_with("x is finite", "''").front() == "contract.h does not say \"\"");
  CHECK(trace_of(kTrace, with(kContract, "2\n", "3\n")).problems.front() ==
        "contract.h does not say \"y = 2 * x\"");
  CHECK(problems_with("  - explains: \"const", "  - explains: Doubles\n  - explains: \"const") ==
        Problems{"contract.h does not say \"Doubles\" behind what the entry before quotes: keep "
                 "its order"});
}

TEST_CASE("a statement has a check and a mutant, or says why not") {
  CHECK(problems_with(", mutants: [triples]", "") ==
        Problems{"formula: no mutant breaks it: name one, or say in `not_asked` why"});
  CHECK(problems_with("checks: [doubles], mutants: [triples]", "checks: []").size() == 2);
  CHECK(problems_with("not_asked: it binds the caller", "not_asked: ''").size() == 2);
  CHECK(problems_with("id: finite", "id: formula") ==
        Problems{"two statements are called formula"});
}

TEST_CASE("the checks and mutants exist, and one of the checks kills each of the mutants") {
  CHECK(problems_with("[refuses, doubles]", "[refuses, doubls]") ==
        Problems{"status: there is no check doubls, did you mean 'doubles'?"});
  CHECK(problems_with("[lenient]", "[lenient, triple]") ==
        Problems{"status: there is no mutant triple, did you mean 'triples'?"});
  CHECK(problems_with("[triples]", "[triples, lenient]") ==
        Problems{"formula: none of its checks kills the mutant lenient; refuses and speed do"});
}

TEST_CASE("every check asks a statement, or has a reason why it asks something else") {
  CHECK(problems_with("beyond:\n  - {check: speed, reason: the prompt asks for it}\n", "") ==
        Problems{"the check speed asks no statement: name it at one, or in `beyond` with the "
                 "reason"});
  CHECK(problems_with("beyond:", "beyond:\n  - {check: refuses, reason: again}") ==
        Problems{"beyond: the check refuses is named elsewhere"});
  CHECK(problems_with("beyond:", "beyond:\n  - {check: sped, reason: a slip}") ==
        Problems{"beyond: there is no check sped, did you mean 'speed'?"});
  CHECK_THROWS_AS(problems_with(", reason: the prompt asks for it", ""), UserError);
}

TEST_CASE("what is asked wholly, in part and not at all is counted apart") {
  using enum ContractStatement::Asked;
  const std::string formula = "checks: [doubles], mutants: [triples]";
  const ContractTrace trace = trace_of(with(kTrace, formula, formula + ", not_asked: NaN"));
  CHECK(trace.problems == Problems{});
  CHECK(trace.count(wholly) == 1);
  CHECK(trace.count(in_part) == 1);
  CHECK(trace.count(not_at_all) == 1);
  const ContractTrace unbroken =
      trace_of(with(kTrace, ", mutants: [triples]", ", not_asked: no mutant yet"));
  CHECK(unbroken.problems == Problems{});
  CHECK(unbroken.count(in_part) == 1);
}

TEST_CASE("the table shows each statement with its checks, its mutants and what is not asked") {
  const Checkout checkout;
  const Ran ran = checkout.run({"audit", "--contract", "-c", checkout.challenge});
  CHECK(ran.code == kExitDone);
  const ContractTrace trace =
      trace_contract(checkout.root(), checkout.challenge, all_graders().front().make());
  for (const ContractStatement& one : trace.statements) {
    INFO(one.id);
    CHECK(contains(ran.out, "  " + one.id + "\n"));
    for (const auto& names : {one.checks, one.mutants})
      if (!names.empty()) CHECK(contains(ran.out, "  " + sentence_list(names) + "\n"));
    CHECK(contains(ran.out, one.not_asked + "\n"));
  }
  const Ran json = checkout.run({"audit", "--contract", "--json", "-c", checkout.challenge});
  const Json statements = Json::parse(json.out)["challenges"][0]["statements"];
  REQUIRE(statements.size() == trace.statements.size());
  CHECK(statements.back()["number"] == trace.statements.size());
  CHECK(statements.back()["id"] == trace.statements.back().id);
}

TEST_CASE("a challenge whose contract nobody traced says so") {
  const ScratchFolder empty("untraced");
  const GraderEntry& entry = all_graders().front();
  const std::string id(entry.id);
  CHECK(trace_contract(empty.path(), id, entry.make()).problems ==
        Problems{"graders/" + id + "/contract.yaml is missing"});
}

TEST_CASE("every statement of every contract is asked and broken, or says why not") {
  const std::filesystem::path root = GAUNTLET_ROOT;
  for (const GraderEntry& entry : all_graders()) {
    const std::string id(entry.id);
    INFO(id);
    const ContractTrace trace = trace_contract(root, id, entry.make());
    CHECK(trace.problems == Problems{});
    CHECK(trace.count(ContractStatement::Asked::wholly) > trace.statements.size() / 2);
  }
}
