// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "harness/cli/exit_codes.h"
#include "harness/store/json_fields.h"
#include "harness/store/ledger.h"
#include "tests/cli/checkout.h"
#include "tests/store/judged_sample.h"
#include "tests/support/text.h"

using namespace gauntlet;
namespace fs = std::filesystem;

namespace {

const fs::path kShipped = fs::path(GAUNTLET_ROOT) / "reports/judged/origin.yaml";

}  // namespace

TEST_CASE("judged grades are taken over, and the report has a page of them") {
  const Checkout checkout;
  const Ran ran = checkout.run({"import", kShipped.string()});
  INFO(ran.err);
  REQUIRE(ran.code == kExitDone);
  CHECK(contains(ran.out, "grades of 6 models, judged, not measured"));
  const fs::path reports = checkout.root() / "reports";
  CHECK(read_file(reports / "judged/origin.yaml") == read_file(kShipped));
  REQUIRE(checkout.run({"report"}).code == kExitDone);
  CHECK(contains(read_file(reports / "judged.md"), "3.638 (8 of 8)"));
  CHECK(checkout.run({"report", "--check"}).code == kExitDone);

  std::string edited = read_file(kShipped);
  edited.replace(edited.find("glm-5: B+ (2nd)"), 15, "glm-5: C+ (2nd)");
  write_file(reports / "judged/origin.yaml", edited);
  const Ran outdated = checkout.run({"report", "--check"});
  CHECK(outdated.code == kExitGateFailed);
  CHECK(contains(outdated.out, "judged.md"));
}

TEST_CASE("a judged grade that another import replaces is in the ledger of the report") {
  const Checkout checkout;
  const fs::path ledger = checkout.root() / "reports/data/ledger.jsonl";
  REQUIRE(checkout.run({"import", kShipped.string()}).code == kExitDone);
  REQUIRE(checkout.run({"import", kShipped.string()}).code == kExitDone);
  CHECK_FALSE(fs::exists(ledger));  // the same grades again
  const fs::path edited = checkout.root() / "origin.yaml";
  write_file(edited, replaced(read_file(kShipped), "glm-5: B+ (2nd)", "glm-5: C+ (2nd)"));
  CHECK(contains(checkout.run({"import", edited.string()}).err, "held other grades"));
  const auto entries = load_ledger(ledger);
  REQUIRE(entries.size() == 1);
  CHECK(entries[0].submission == "glm-5");
  CHECK(entries[0].before == "judged B+");
  CHECK(entries[0].after == "judged C+");
  CHECK(entries[0].because == std::vector<std::string>{"origin.yaml was imported again"});
  checkout.add_submission("bravo");
  checkout.add_result("bravo", 1);
  REQUIRE(checkout.run({"report"}).code == kExitDone);
  CHECK(contains(read_file(checkout.root() / "reports/ledger.md"), "judged C+"));
}

TEST_CASE("the document of an import counts what it took") {
  const Checkout checkout;
  const Json document = Json::parse(checkout.run({"import", kShipped.string(), "--json"}).out);
  CHECK(document["models"] == 6);
  CHECK(document["grades"] == 35);
  CHECK(document["contradicted"].get<int>() >= 16);
}

TEST_CASE("an import of what cannot be is refused and leaves nothing") {
  const Checkout checkout;
  const fs::path file = checkout.root() / "mine.yaml";
  write_file(file, sample::judgement_yaml());
  const Ran unknown = checkout.run({"import", file.string()});
  CHECK(unknown.code == kExitUsage);
  CHECK(contains(unknown.err, "mine.yaml: challenges: 'one' is no challenge; known: "));
  const fs::path misnamed = checkout.root() / "My file.yaml";
  write_file(misnamed, read_file(kShipped));
  CHECK(contains(checkout.run({"import", misnamed.string()}).err, "must be named NAME.yaml"));
  CHECK_FALSE(fs::exists(checkout.root() / "reports/judged"));
}
