// SPDX-License-Identifier: Apache-2.0
#include "harness/core/stated_claim.h"

#include <doctest/doctest.h>
#include <stdexcept>

#include "harness/core/error.h"

using namespace gauntlet;

namespace {

std::string complaint(const std::string& text) {
  try {
    stated_claims_from_yaml(text, "claims.yaml");
  } catch (const UserError& error) {
    return error.what();
  }
  return "no complaint";
}

bool starts_with(const std::string& text, const std::string& start) {
  return text.rfind(start, 0) == 0;
}

}  // namespace

TEST_CASE("claims are read in the order of their kinds, whatever the file's") {
  const auto claims = stated_claims_from_yaml(
      "memory_exponent: 0\ntime_exponent: 1.5\npeak_workspace: 0.5\nsaved_bytes: 8\n"
      "passes_over_input: 2\nbound: compute\n",
      "claims.yaml");
  REQUIRE(claims.size() == 6);
  CHECK(std::get<Bound>(claims[0].value) == Bound::compute);
  const double numbers[] = {2, 8, 0.5, 1.5, 0};
  for (std::size_t i = 1; i < claims.size(); ++i) {
    CHECK(claims[i].kind == static_cast<ClaimKind>(i));
    CHECK(std::get<double>(claims[i].value) == numbers[i - 1]);
  }
}

TEST_CASE("a file may claim little, and a mapping without keys nothing") {
  CHECK(stated_claims_from_yaml("saved_bytes: 8\n", "claims.yaml").size() == 1);
  CHECK(stated_claims_from_yaml("{}\n", "claims.yaml").empty());
}

TEST_CASE("what is no claim is refused with file, line, key and what was wanted") {
  CHECK(complaint("bound: memory\nsaved_byte: 8\n") ==
        "claims.yaml:2: saved_byte: is no known key, did you mean 'saved_bytes'?");
  CHECK(complaint("bound: memori\n") ==
        "claims.yaml:1: bound: must be memory or compute, not 'memori', did you mean 'memory'?");
  CHECK(complaint("\nbound: 3\n") == "claims.yaml:2: bound: must be memory or compute, not '3'");
  CHECK(complaint("time_exponent: quadratic\n") ==
        "claims.yaml:1: time_exponent: must be a finite number, not 'quadratic'");
  CHECK(complaint("time_exponent: -1\n") ==
        "claims.yaml:1: time_exponent: must lie between 0 and 10, not -1");
  CHECK(complaint("passes_over_input: 0\n") ==
        "claims.yaml:1: passes_over_input: must lie between 1 and 1000, not 0");
  CHECK(complaint("peak_workspace: .nan\n") ==
        "claims.yaml:1: peak_workspace: must be a finite number, not '.nan'");
  CHECK(complaint("saved_bytes: [8]\n") ==
        "claims.yaml:1: saved_bytes: must be a finite number, not a list");
  CHECK(complaint("saved_bytes: 8\nsaved_bytes: 9\n") ==
        "claims.yaml:2: saved_bytes: is given twice; keep one");
  CHECK(starts_with(complaint("one pass, memory bound"), "claims.yaml:1: must be a list of"));
  CHECK(starts_with(complaint(""), "claims.yaml:1: must be a list of"));
  CHECK(starts_with(complaint(std::string(20'000, '#')), "claims.yaml:1: holds 20000 bytes"));
}

TEST_CASE("what a stranger wrote comes back printable") {
  const std::string said = complaint("bound: \"\\e[31mmemory\"\n");
  CHECK(said.find('\x1b') == std::string::npos);
  CHECK(said.find("memory or compute") != std::string::npos);
}

TEST_CASE("names are read back, and others refused") {
  for (int i = 0; i < 6; ++i) {
    const auto kind = static_cast<ClaimKind>(i);
    CHECK(claim_kind_named(name_of(kind)) == kind);
  }
  CHECK(bound_named("compute") == Bound::compute);
  CHECK_THROWS_AS(claim_kind_named("speed"), std::invalid_argument);
}
