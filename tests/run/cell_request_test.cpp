// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <functional>

#include "harness/core/error.h"
#include "harness/run/cell_request_json.h"
#include "harness/store/json_fields.h"
#include "tests/support/text.h"

using namespace gauntlet;

namespace {

const std::filesystem::path kRoot = GAUNTLET_ROOT;

CellRequest full_request() {
  CellRequest request;
  request.submission = "bravo";
  request.attempt = 2;
  const std::string id(all_graders().front().id);
  request.challenge = load_challenge(kRoot, id);
  request.solution.files = {{"solution.cpp", "#include \"contract.h\"\n// \"ü\" \\ \x01\t\n"},
                            {"detail/tiles.h", ""}};
  request.solution.claims = "bound: memory\n";
  request.seed = 0xfedcba9876543210;
  request.only_checks = {checks_of(id, Device::cpu).back().id};
  request.audit = true;
  request.races = false;
  request.grade_tests = false;
  request.constraint = "epyc&quiet";
  request.null_solution = NullKind::mean;
  return request;
}

/// What the reader says to a request of which one part was changed.
std::string complaint(const std::function<void(Json&)>& edit) {
  Json json = Json::parse(to_json(full_request()));
  edit(json);
  try {
    cell_request_from_json(json_text(json), "request.json", kRoot);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no complaint";
}

}  // namespace

TEST_CASE("a request is read back as it was") {
  const CellRequest one = full_request();
  const CellRequest read = cell_request_from_json(to_json(one), "request.json", kRoot);
  CHECK(read.key() == one.key());
  CHECK(read.solution.digest() == one.solution.digest());
  CHECK(read.solution.files.at(0).content == one.solution.files.at(0).content);
  CHECK(read.solution.claims == one.solution.claims);
  CHECK(read.seed == one.seed);
  CHECK(read.only_checks == one.only_checks);
  CHECK(read.constraint == one.constraint);
  CHECK(read.audit);
  CHECK_FALSE(read.races);
  CHECK_FALSE(read.grade_tests);
  CHECK(read.null_solution == NullKind::mean);
  CHECK(to_json(read) == to_json(one));
  CellRequest drawn = one;
  drawn.seed.reset();
  drawn.null_solution.reset();
  drawn.solution.claims.reset();
  drawn.attempt = 1;
  const CellRequest again = cell_request_from_json(to_json(drawn), "request.json", kRoot);
  CHECK_FALSE(again.seed.has_value());
  CHECK_FALSE(again.null_solution.has_value());
  CHECK_FALSE(again.solution.claims.has_value());
  CHECK(again.attempt == 1);
}

TEST_CASE("a request that says anything else is refused by file, field and what was wanted") {
  CHECK(complaint([](Json&) {}) == "no complaint");
  const auto says = [](const std::function<void(Json&)>& edit, const std::string& words) {
    const std::string said = complaint(edit);
    INFO(said);
    CHECK(contains(said, words));
  };
  says([](Json& j) { j["schema"] = "gauntlet.cell-request/9"; }, "request.json: schema: is");
  says([](Json& j) { j["race"] = true; }, "request.json: race: is no field here, did you mean");
  says([](Json& j) { j["files"][0]["mode"] = 7; }, "files[0].mode: is no field here");
  says([](Json& j) { j.erase("races"); }, "request.json: races: is missing");
  says([](Json& j) { j["audit"] = 1; }, "audit: must be true or false");
  says([](Json& j) { j["submission"] = "../bravo"; }, "submission: '../bravo' is no name for a");
  says([](Json& j) { j["challenge"] = "no_such"; }, "challenge: no challenge 'no_such'");
  says([](Json& j) { j["challenge"] = "../first"; }, "challenge: no challenge");
  says([](Json& j) { j["device"] = "gpu"; }, "device: 'gpu' is no device");
  const std::string why_not = full_request().challenge.why_not_on(Device::cuda);
  says([](Json& j) { j["device"] = "cuda"; },
       why_not.empty() ? "grader: is" : "device: " + why_not);
  says([](Json& j) { j["attempt"] = 0; }, "attempt: must be a number from 1 to 999");
  says([](Json& j) { j["grader"] = "00"; }, "grader: is 00, this program has");
  says([](Json& j) { j["files"][1]["content"] = "int x;"; }, "sources: must be");
  says([](Json& j) { j["files"].erase(1); }, "sources: must be");
  says([](Json& j) { j["only_checks"] = {"no_such"}; }, "only_checks: ");
  says([](Json& j) { j["seed"] = "twelve"; }, "seed: must be");
  says([](Json& j) { j["null_solution"] = "null"; }, "null_solution: 'null' is no null solution");
}

TEST_CASE("every prefix of a request is refused") {
  const std::string good = to_json(full_request());
  for (std::size_t size = 0; size + 1 < good.size(); ++size)
    CHECK_THROWS_AS(cell_request_from_json(good.substr(0, size), "r.json", kRoot), UserError);
}
