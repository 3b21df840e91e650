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

TEST_CASE("lines of earlier versions are read, and kept in fewer letters") {
  const ScratchFolder folder("ledger");
  const auto file = folder.path() / "ledger.jsonl";
  write_file(file,
             "{\"schema\":\"gauntlet.ledger/1\",\"when\":\"2026-04-02\",\"submission\":\"alpha\","
             "\"challenge\":\"first\",\"before\":\"A 95\",\"after\":\"C+ 79\",\"because\":[]}\n");
  REQUIRE(load_ledger(file).size() == 1);
  append_to_ledger(file, {{"2026-04-03", "bravo", "first", "B 84", "withdrawn", {"x"}}});
  const auto entries = load_ledger(file);
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].after == "C+ 79");
  CHECK(entries[1].because == std::vector<std::string>{"x"});
  CHECK(read_file(file) ==
        "[\"2026-04-02\",\"alpha\",\"first\",\"A 95\",\"C+ 79\",[]]\n"
        "[\"2026-04-03\",\"bravo\",\"first\",\"B 84\",\"withdrawn\",[\"x\"]]\n");
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
  for (const char* line : {"[]", "[1]", "[\"a\",\"b\",\"c\",\"d\",\"e\",[3]]"}) {
    write_file(file, std::string(line) + "\n");
    CHECK_THROWS_WITH_AS(load_ledger(file), doctest::Contains("ledger.jsonl:1: is damaged"),
                         UserError);
  }
  for (const std::string& line : {std::string("["), std::string(100'000, '[')}) {
    write_file(file, line + "\n");
    CHECK_THROWS_WITH_AS(load_ledger(file), doctest::Contains("ledger.jsonl:1: "), UserError);
  }
}
