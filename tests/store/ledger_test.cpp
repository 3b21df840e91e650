// SPDX-License-Identifier: Apache-2.0
#include "harness/store/ledger.h"

#include <doctest/doctest.h>

#include "harness/core/error.h"
#include "harness/core/files.h"

using namespace gauntlet;

TEST_CASE("a ledger is read as it was written, and lines are only added") {
  const ScratchFolder folder("ledger");
  const auto file = folder.path() / "ledger.jsonl";
  CHECK(load_ledger(file).empty());
  append_to_ledger(file, {});
  CHECK_FALSE(std::filesystem::exists(file));
  append_to_ledger(file, {{"2026-04-02", "alpha", "first", "A 95", "C+ 79", {"another grader"}}});
  const std::string before = read_file(file);
  append_to_ledger(file, {{"2026-04-03", "bravo", "first", "B 84", "withdrawn", {}}});
  CHECK(read_file(file).rfind(before, 0) == 0);
  const auto entries = load_ledger(file);
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].after == "C+ 79");
  CHECK(entries[0].because == std::vector<std::string>{"another grader"});
  CHECK(entries[1].submission == "bravo");
}

TEST_CASE("a damaged line is named") {
  const ScratchFolder folder("ledger");
  const auto file = folder.path() / "ledger.jsonl";
  append_to_ledger(file, {{"2026-04-02", "alpha", "first", "A 95", "C+ 79", {}}});
  write_file(file, read_file(file) + "{\"schema\":\"gauntlet.ledger/1\"}\n");
  try {
    load_ledger(file);
    FAIL("must not be read");
  } catch (const UserError& error) {
    CHECK(std::string(error.what()).find("ledger.jsonl:2: when: is missing") != std::string::npos);
  }
}
