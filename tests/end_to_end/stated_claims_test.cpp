// SPDX-License-Identifier: Apache-2.0
// What a claims.yaml changes in the grading of a solution: what is said beside the grade, and
// nothing else.
#include <doctest/doctest.h>
#include <filesystem>
#include <optional>

#include "harness/grading/cell.h"
#include "harness/grading/run_cell.h"
#include "harness/score/judge_claims.h"

using namespace gauntlet;
namespace fs = std::filesystem;

namespace {

/// The textbook's layer normalisation with these claims, asked how much it saves.
CellObservation graded(const std::optional<std::string>& claims) {
  const fs::path root = GAUNTLET_ROOT;
  CellRequest request;
  request.submission = "claiming";
  request.challenge = load_challenge(root, "layernorm_backward");
  request.solution = read_solution(root / "submissions/textbook/layernorm_backward");
  request.solution.claims = claims;
  request.seed = 1;
  request.only_checks = {"saved_bytes"};
  request.audit = true;
  const GradingEnvironment environment{root, fs::path(GAUNTLET_BIN) / "gauntlet-worker",
                                       root / "build/cache", "test"};
  return run_cell(environment, request, [](const CellEvent&) {}).observation;
}

}  // namespace

TEST_CASE("a claim is held against what its solution was seen to save") {
  for (const auto& [bytes, verdict] : {std::pair("8", "true"), std::pair("4", "false")}) {
    const CellObservation cell = graded(std::string("saved_bytes: ") + bytes);
    const auto judged = judge_claims(cell);
    REQUIRE(judged.size() == 1);
    CHECK(name_of(judged[0].verdict) == verdict);
    CHECK(judged[0].measured == "8 B (saved bytes per row, at most)");
  }
}

TEST_CASE("bad claims stop no grade, and are told with file, line and key") {
  const CellObservation silent = graded(std::nullopt);
  const CellObservation cell = graded("bound: memory\nsaved_byte: 8\n");
  CHECK(cell.stated_claims.empty());
  CHECK(cell.claims_fault ==
        "claims.yaml:2: saved_byte: is no known key, did you mean 'saved_bytes'?");
  REQUIRE(cell.checks.size() == 1);
  CHECK(cell.checks[0].verdict == Verdict::passed);
  CHECK(cell.checks[0].earned == silent.checks[0].earned);
  CHECK(silent.claims_fault.empty());
}

TEST_CASE("the growth of time is no question of an audit or of single checks") {
  CHECK_FALSE(graded("time_exponent: 1").time_growth);
}
