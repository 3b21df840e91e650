// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "harness/build/build_cache.h"
#include "harness/cli/exit_codes.h"
#include "harness/cli/quantities.h"
#include "harness/core/error.h"
#include "harness/store/json_fields.h"
#include "tests/cli/checkout.h"
#include "tests/support/text.h"

using namespace gauntlet;

namespace fs = std::filesystem;

namespace {

/// A submission with a result, and what is said of it.
struct Explained {
  Checkout checkout;
  fs::path solution = checkout.root() / "submissions/bravo" / checkout.challenge;

  Explained() {
    checkout.add_submission("bravo");
    checkout.add_result("bravo", 1);
    REQUIRE(checkout.run({"score"}).code == kExitDone);
  }

  std::string explained() const {
    const Ran ran = checkout.run({"cache", "explain", "bravo", checkout.challenge});
    INFO(ran.err);
    CHECK(ran.code == kExitDone);
    return ran.out;
  }
  Json document() const {
    return Json::parse(
        checkout.run({"cache", "explain", "bravo", checkout.challenge, "--json"}).out);
  }
  /// "cpu cores"
  std::string changed() const {
    std::string fields;
    const Json explained = document();
    for (const Json& change : explained["changed"])
      fields += (fields.empty() ? "" : " ") + change["field"].get<std::string>();
    return fields;
  }
  /// Stores the result again with something else about it.
  template <class Edit>
  void edit(Edit edit) const {
    CellObservation cell = *checkout.results().load({"bravo", checkout.challenge});
    edit(cell);
    checkout.keep(cell);
  }
};

}  // namespace

TEST_CASE("what did not change would be reused, layer by layer") {
  const Explained bravo;
  const std::string text = bravo.explained();
  CHECK(contains(text, "fields of its key changed"));
  CHECK(contains(text, "observation  would be reused"));
  CHECK(contains(text, "score        would be reused"));
  CHECK(contains(text, "report       stale: this cell is not in it"));
  CHECK(contains(text, "build        stale: it is not in the cache any more"));
  const Json document = bravo.document();
  CHECK(document["reused"] == true);
  CHECK(document["changed"].empty());
  CHECK(document["key_format"] == CacheKey::kFormat);
  REQUIRE(bravo.checkout.run({"report"}).code == kExitDone);
  CHECK(contains(bravo.explained(), "report       would be reused"));
}

TEST_CASE("each field of a key that changes is named, with what it was and what it is") {
  const Explained bravo;
  SUBCASE("a file of the submission") {
    write_file(bravo.solution / "solution.cpp", "#include \"contract.h\"\n// more\n");
    CHECK(bravo.changed() == "submission file solution.cpp");
    CHECK(contains(bravo.explained(), "build        stale: file solution.cpp changed"));
    CHECK(contains(bravo.explained(), "score        stale: it follows from the observation"));
  }
  SUBCASE("another file") {
    write_file(bravo.solution / "tiles.h", "");
    CHECK(bravo.changed() == "submission file tiles.h");
    CHECK(contains(bravo.explained(), "(none) -> "));
  }
  SUBCASE("the contract") {
    bravo.edit(
        [](CellObservation& cell) { cell.provenance.contract_digest = std::string(64, 'a'); });
    CHECK(bravo.changed() == "contract");
    CHECK(contains(bravo.explained(), "aaaaaaaa -> "));
  }
  SUBCASE("the grader") {
    bravo.edit([](CellObservation& cell) { cell.provenance.grader_digest = std::string(64, 'a'); });
    CHECK(bravo.changed() == "grader");
    CHECK(contains(bravo.explained(), "observation  stale: the grader changed: aaaaaaaa -> "));
  }
  SUBCASE("the compiler") {
    bravo.edit([](CellObservation& cell) { cell.build.compiler = "g++ 1"; });
    CHECK(bravo.changed() == "compiler");
  }
  SUBCASE("flags") {
    bravo.edit([](CellObservation& cell) { cell.build.flags = "-O1"; });
    CHECK(bravo.changed() == "flags");
  }
  SUBCASE("the machine") {
    bravo.edit([](CellObservation& cell) {
      cell.provenance.cpu = "Z80";
      cell.provenance.cores = 99;
    });
    CHECK(bravo.changed() == "cpu cores");
    CHECK(contains(bravo.explained(), "Z80 -> "));
  }
  SUBCASE("the sandbox") {
    bravo.edit([](CellObservation& cell) { cell.provenance.sandbox = ""; });
    CHECK(bravo.changed() == "sandbox");
  }
  CHECK(bravo.document()["reused"] == false);
}

TEST_CASE("a result of another key format says so") {
  const Explained bravo;
  bravo.edit([](CellObservation& cell) {
    cell.provenance.key_format = 1;
    cell.provenance.files.clear();
    cell.provenance.contract_digest.clear();
  });
  CHECK(contains(
      bravo.explained(),
      "observation  stale: it was kept under cache key format 1, and this version's is 2"));
}

TEST_CASE("a rubric that changed makes the score stale, and nothing before it") {
  const Explained bravo;
  const fs::path file = bravo.checkout.results().score_file({"bravo", bravo.checkout.challenge});
  const std::string rubric = Json::parse(read_file(file))["rubric_digest"];
  write_file(file, replaced(read_file(file), rubric, std::string(64, 'a')));
  CHECK(contains(bravo.explained(), "observation  would be reused"));
  CHECK(contains(bravo.explained(), "score        stale: the rubric changed: aaaaaaaa -> "));
}

TEST_CASE("what was never graded is said to be so") {
  const Checkout checkout;
  checkout.add_submission("bravo");
  const Ran ran = checkout.run({"cache", "explain", "bravo", checkout.challenge});
  CHECK(contains(ran.out, "never graded"));
  CHECK(contains(ran.out, "observation  stale: not graded before"));
}

TEST_CASE("the cache's contents are counted by kind, and pruned by a rule") {
  const Checkout checkout;
  CHECK(contains(checkout.run({"cache"}).out, "nothing is kept yet"));
  const BuildCache builds(checkout.root() / "build/cache/builds");
  BuildRecord record;
  record.ok = true;
  for (const char* layer : {"solution", "headers"})
    builds.keep(CacheKey(layer).add("a", "1"), record, std::string(4000, 'x'));
  checkout.add_submission("bravo");
  checkout.add_result("bravo", 1);
  const std::string text = checkout.run({"cache"}).out;
  CHECK(contains(text, "precompiled headers"));
  CHECK(contains(text, "solutions"));
  CHECK(contains(text, "1 results"));
  const Json document = Json::parse(checkout.run({"cache", "--json"}).out);
  CHECK(document["kinds"].size() == 2);
  CHECK(document["results"]["entries"] == 1);

  CHECK(contains(checkout.run({"cache", "prune", "--max-size", "5K"}).out, "Nothing was removed"));
  const Ran pruned = checkout.run({"cache", "prune", "--max-size", "5K", "--write", "--json"});
  CHECK(pruned.code == kExitDone);
  CHECK(Json::parse(pruned.out)["kinds"].size() == 1);
  CHECK(Json::parse(checkout.run({"cache", "--json"}).out)["kinds"].size() == 1);
  checkout.run({"cache", "prune", "--older-than", "0m", "--write"});
  CHECK(checkout.results().load({"bravo", checkout.challenge}).has_value());
}

TEST_CASE("ages and sizes are whole numbers with a unit") {
  CHECK(parse_age("--x", "90m") == std::chrono::minutes(90));
  CHECK(parse_age("--x", "30d") == std::chrono::days(30));
  CHECK(parse_size("--x", "2G") == std::uint64_t{2} << 30);
  CHECK(size_text(512) == "512 bytes");
  CHECK(size_text(std::uint64_t{3} << 29) == "1.5 GiB");
  for (const char* word : {"", "d", "12", "-1d", "1.5d", "1dd", "2G", "9999999d"})
    CHECK_THROWS_WITH_AS(parse_age("--older-than", word), doctest::Contains("--older-than"),
                         UserError);
}
