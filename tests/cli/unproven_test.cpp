// SPDX-License-Identifier: Apache-2.0
// Grades that nothing vouches for.
#include <doctest/doctest.h>

#include "harness/cli/exit_codes.h"
#include "harness/report/data/report_data.h"
#include "harness/store/json_fields.h"
#include "tests/cli/checkout.h"
#include "tests/support/text.h"

using namespace gauntlet;
namespace fs = std::filesystem;

TEST_CASE("a grade that no receipt vouches for says so wherever it is shown") {
  const Checkout checkout;
  for (const char* name : {"bravo", "charlie"}) {
    checkout.add_submission(name);
    checkout.add_result(name, 0.5);
  }
  const auto everywhere = [&] {
    const Ran ran = checkout.run({"report"});
    REQUIRE(ran.code == kExitDone);
    const fs::path pages = checkout.root() / "reports";
    return std::vector<std::string>{
        checkout.run({"score"}).out,
        checkout.run({"show", "bravo", checkout.challenge}).out,
        read_file(pages / "README.md"),
        read_file(pages / "submissions/bravo.md"),
        read_file(checkout.root() / "build/report/index.html"),
    };
  };
  const std::string kMark = "no signed receipt fits this grade";
  for (const std::string& text : everywhere()) CHECK_FALSE(contains(text, kMark));
  const auto marked = [&] {
    for (const std::string& text : everywhere()) {
      INFO(text);
      CHECK(contains(text, kMark));
      CHECK(contains(text, "grade --fresh"));
    }
    const std::string page = read_file(checkout.root() / "reports/README.md");
    CHECK(contains(page, fmt::format("- § bravo in {}: ", checkout.challenge)));
    CHECK_FALSE(contains(page, fmt::format("- § charlie in {}: ", checkout.challenge)));
    const Json cells = Json::parse(checkout.run({"score", "--json"}).out)["cells"];
    REQUIRE(cells.size() == 2);
    CHECK(cells[0].contains("unproven"));
    CHECK_FALSE(cells[1].contains("unproven"));
    CHECK(ReportData(checkout.root() / "reports/data").load().at(0).closing.empty());
  };
  SUBCASE("its observation was edited") {
    CellObservation better = *checkout.results().load({"bravo", checkout.challenge});
    better.checks[0].earned = 1;
    checkout.results().save(better);
    marked();
  }
  SUBCASE("it has no receipt") {
    fs::remove(checkout.results().receipt_file({"bravo", checkout.challenge}));
    marked();
  }
}

TEST_CASE("a grade of an older grader is shown with a word about it, and is not thrown away") {
  const Checkout checkout;
  checkout.add_submission("bravo");
  checkout.add_result("bravo", 0.5);
  const std::string kWord = "bravo " + checkout.challenge + ": graded before its grader changed";
  const auto ran = [&](bool score) {
    return score ? checkout.run({"score", "--json"})
                 : checkout.run({"show", "bravo", checkout.challenge});
  };
  for (const bool score : {true, false}) CHECK_FALSE(contains(ran(score).err, kWord));
  CellObservation older = *checkout.results().load({"bravo", checkout.challenge});
  older.provenance.grader_digest = std::string(64, 'a');
  checkout.results().save(older);
  for (const bool score : {true, false}) {
    CHECK(ran(score).code == kExitDone);
    CHECK(contains(ran(score).err, kWord));
  }
  CHECK(Json::parse(ran(true).out)["cells"][0]["older_grader"] == true);
}
