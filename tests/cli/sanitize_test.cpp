// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "harness/cli/exit_codes.h"
#include "tests/cli/checkout.h"

using namespace gauntlet;
namespace fs = std::filesystem;

namespace {

std::string planted_key() {
  return "ghp" + std::string("_") + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
}

/// A submission with a log beside it.
void plant_a_key(const Checkout& checkout) {
  checkout.add_submission("bravo");
  write_file(checkout.root() / "submissions/bravo/log.txt",
             "token " + planted_key() + "\nby Zacharias\x1b[31m\n");
}

}  // namespace

TEST_CASE("sanitize ends with 1 until nothing is left to remove, and prints no key") {
  const Checkout checkout;
  plant_a_key(checkout);
  const fs::path log = checkout.root() / "submissions/bravo/log.txt";

  const Ran planned = checkout.run({"sanitize", "bravo", "--name", "zacharias"});
  CHECK(planned.code == kExitGateFailed);
  CHECK(planned.out.find("-token ghp_***\n") != std::string::npos);
  CHECK(planned.out.find("+token REMOVED\n") != std::string::npos);
  CHECK(planned.out.find("  log.txt:1  github-pat  40 bytes  ghp_***\n") != std::string::npos);
  CHECK(planned.out.find("  log.txt:2  name  9 bytes  Za***\n") != std::string::npos);
  CHECK(planned.out.find("Nothing was changed: --write does") != std::string::npos);
  CHECK(read_file(log).find(planted_key()) != std::string::npos);

  const Ran written = checkout.run({"sanitize", "bravo", "--name", "zacharias", "--write"});
  CHECK(written.code == kExitDone);
  CHECK(written.out.find("Removed:\n") != std::string::npos);
  CHECK(read_file(log) == "token REMOVED\nby user\x1b[31m\n");

  const Ran again = checkout.run({"sanitize", log.parent_path().string()});
  CHECK(again.code == kExitDone);
  CHECK(again.out.find("Nothing was found.") != std::string::npos);
  for (const Ran* ran : {&planned, &written, &again}) {
    CHECK((ran->out + ran->err).find(planted_key().substr(0, 6)) == std::string::npos);
    CHECK((ran->out + ran->err).find('\x1b') == std::string::npos);
  }
}

TEST_CASE("sanitize --json lists every removal, and what is left keeps the exit code at 1") {
  const Checkout checkout;
  plant_a_key(checkout);
  fs::create_symlink("/etc/passwd", checkout.root() / "submissions/bravo/link");
  const Ran ran = checkout.run({"sanitize", "bravo", "--write", "--json"});
  CHECK(ran.code == kExitGateFailed);
  CHECK(ran.out.find(planted_key().substr(0, 6)) == std::string::npos);
  const Json document = Json::parse(ran.out);
  CHECK(document["schema"] == "gauntlet.sanitize/1");
  CHECK(document["written"] == true);
  CHECK(document["clean"] == false);
  REQUIRE(document["removals"].size() == 1);
  CHECK(document["removals"][0] == Json{{"file", "log.txt"},
                                        {"line", 1},
                                        {"rule", "github-pat"},
                                        {"bytes", 40},
                                        {"begins", "ghp_***"},
                                        {"put", "REMOVED"}});
  REQUIRE(document["left"].size() == 1);
  CHECK(document["left"][0]["file"] == "link");
  CHECK(document["left"][0]["line"].is_null());
}

TEST_CASE("sanitize refuses what is no model's folder") {
  const Checkout checkout;
  const auto refused = [&](const std::string& folder, const std::string& says) {
    const Ran ran = checkout.run({"sanitize", folder});
    CHECK(ran.code == kExitUsage);
    CHECK_MESSAGE(ran.err.find(says) != std::string::npos, ran.err);
  };
  refused("/", "name the folder that is to be published");
  refused(checkout.root().string(), "Gauntlet's own checkout");
  refused("no-such-model", "is no folder, and no submission is called so");
  refused("", "is empty");
}
