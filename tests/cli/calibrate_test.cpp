// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <set>

#include "harness/cli/exit_codes.h"
#include "harness/store/json_fields.h"
#include "tests/cli/checkout.h"

using namespace gauntlet;

TEST_CASE("programs are raced against themselves alone, under each condition, if that is wanted") {
  const Checkout checkout;
  const Ran ran = checkout.run({"calibrate", "--itself", "--races", "1", "--json", "-q"});
  REQUIRE(ran.code == kExitDone);
  const Json rows = Json::parse(ran.out)["rows"];
  std::set<std::string> conditions;
  for (const Json& row : rows) {
    CHECK(row["slower"] == 0);
    CHECK(row["races"] == 1);
    conditions.insert(row["neighbour"]);
  }
  CHECK(rows.size() == 3);
  CHECK(conditions.size() == 3);
}
