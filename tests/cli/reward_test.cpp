// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "harness/cli/exit_codes.h"
#include "harness/store/json_fields.h"
#include "tests/cli/checkout.h"

using namespace gauntlet;
namespace fs = std::filesystem;

TEST_CASE("a reward is one line, is what the solution earns without races, and keeps nothing") {
  const Checkout checkout;
  const auto reward = [&](const std::string& folder) {
    const Ran ran = checkout.run(
        {"reward", folder, "-c", checkout.challenge, "--no-speed", "--seed", "1", "--json", "-q"});
    CHECK(ran.code == kExitDone);
    CHECK(ran.out.find('\n') == ran.out.size() - 1);
    return Json::parse(ran.out);
  };
  checkout.add_submission("empty_handed");
  const Json nothing = reward("empty_handed");
  CHECK(nothing["reward"] == 0);
  CHECK_FALSE(nothing["failures"].empty());
  const Json all = reward((checkout.root() / "reference").string());
  CHECK(all["reward"] == 1);
  CHECK(all["high"] == 1);
  CHECK(all["sections"]["correctness"]["reward"] == 1);
  CHECK(all["failures"].empty());
  CHECK(all["left_out"] == Json::array({"speed"}));
  CHECK_FALSE(fs::exists(checkout.results().root()));
  CHECK_FALSE(fs::exists(checkout.root() / "build"));
}
