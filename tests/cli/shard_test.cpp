// SPDX-License-Identifier: Apache-2.0
// A matrix of machines on the command line: each grades a shard, and one joins them.
#include "harness/run/shard.h"

#include <algorithm>
#include <doctest/doctest.h>

#include "harness/cli/exit_codes.h"
#include "harness/store/json_fields.h"
#include "harness/store/ledger.h"
#include "tests/cli/checkout.h"
#include "tests/support/text.h"

using namespace gauntlet;

namespace fs = std::filesystem;

namespace {

/// Three submissions that were graded before.
void furnish_for_shards(const Checkout& checkout) {
  for (const char* name : {"bravo", "delta", "echo"}) {
    checkout.add_submission(name);
    checkout.add_result(name, 0.5);
  }
}

/// As if another machine had graded it, `folder` is a copy of the results that a shard is about.
std::string machine(const Checkout& checkout, const std::string& name) {
  const fs::path folder = checkout.root() / name;
  fs::copy(checkout.results().root(), folder, fs::copy_options::recursive);
  return folder.string();
}

}  // namespace

TEST_CASE("a shard grades its part, and says so") {
  const Checkout checkout;
  furnish_for_shards(checkout);
  const Ran first = checkout.run({"grade", "echo", "bravo", "delta", "--shard", "1/2", "--json"});
  INFO(first.out, first.err);
  REQUIRE(first.code == kExitDone);
  const Json document = Json::parse(first.out);
  CHECK(document["shard"] == "1/2");
  REQUIRE(document["cells"].size() == 2);
  CHECK(contains(first.err, "shard 1/2: 2 of 3 cells\n"));
  const Ran other = checkout.run({"grade", "bravo", "delta", "echo", "--shard", "2/2", "--json"});
  CHECK(Json::parse(other.out)["cells"].size() == 1);
  CHECK(fs::exists(checkout.root() / "results/shard-2-of-2.json"));
  const Ran none = checkout.run({"grade", "bravo", "--shard", "2/2"});
  CHECK(none.code == kExitDone);
  CHECK(contains(none.out, "Shard 2/2 has no cells"));
  const Ran wrong = checkout.run({"grade", "bravo", "--shard", "3/2"});
  CHECK(wrong.code == kExitUsage);
  CHECK(contains(wrong.err, "'3/2' is no shard"));
}

TEST_CASE("merge joins shards, says what is missing, and writes down what was replaced") {
  const Checkout checkout;
  furnish_for_shards(checkout);
  std::vector<std::string> folders;
  for (const char* shard : {"1/3", "2/3", "3/3"}) {
    folders.push_back(machine(checkout, "machine" + std::string(1, *shard)));
    const Ran ran = checkout.run(
        {"--results", folders.back(), "grade", "bravo", "delta", "echo", "--shard", shard});
    REQUIRE_MESSAGE(ran.code == kExitDone, ran.err);
    const auto graded = load_shards(folders.back()).front().cells;
    for (const CellKey& key : ResultStore(folders.back()).keys())
      if (std::find(graded.begin(), graded.end(), key) == graded.end())
        fs::remove_all(fs::path(folders.back()) / key.submission);
  }
  const std::string into = (checkout.root() / "all").string();
  const Ran part = checkout.run({"merge", folders[2], folders[0], "--into", into, "--json"});
  INFO(part.out, part.err);
  CHECK(part.code == kExitIncomplete);
  const Json document = Json::parse(part.out);
  CHECK(document["complete"] == false);
  CHECK(contains(document["missing"].back().get<std::string>(), "nobody handed in shard 2/3"));
  const Ran whole = checkout.run({"merge", folders[1], "--into", into});
  INFO(whole.out, whole.err);
  CHECK(whole.code == kExitDone);
  CHECK(contains(whole.out, "0 replaced"));
  CHECK_FALSE(contains(whole.out, "missing"));
  CHECK(ResultStore(into).keys().size() == 3);
  CHECK(fs::exists(fs::path(into) / "bravo/model.yaml"));

  CellObservation later = *checkout.results().load({"bravo", checkout.challenge});
  later.provenance.started = "2021-01-01T00:00:00Z";
  later.checks[0].earned = 1;
  checkout.keep(later);
  const std::string newer = checkout.results().root().string();
  fs::remove_all(fs::path(newer) / "delta");
  fs::remove_all(fs::path(newer) / "echo");
  const Ran replaced = checkout.run({"merge", newer, "--into", into});
  INFO(replaced.out, replaced.err);
  CHECK(replaced.code == kExitDone);
  CHECK(contains(replaced.out, "0 cells added, 1 replaced, 0 there already"));
  const auto ledger = load_ledger(fs::path(into) / "ledger.jsonl");
  REQUIRE(ledger.size() == 1);
  CHECK(ledger[0].submission == "bravo");
  CHECK(ledger[0].before == "F 25");
  CHECK(ledger[0].after == "F 50");
  CHECK(ledger[0].when == "2021-01-01T00:00:00Z");
  CHECK(checkout.run({"merge", folders[0], folders[1], folders[2], "--into", into}).code ==
        kExitUsage);
}
