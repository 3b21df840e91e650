// SPDX-License-Identifier: Apache-2.0
#include "harness/store/ledger.h"

#include <csignal>
#include <doctest/doctest.h>
#include <map>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

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
  // The usual reason is not written; one that is no more than that is, and none.
  CHECK(before == "[\"2026-04-02\",\"alpha\",\"first\",\"A 95\",\"C+ 79\"]\n");
  CHECK(ledger_line(entries[1]).find(",[]]") != std::string::npos);
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

TEST_CASE("half a line that a crash left is no entry, and is cut off by the next") {
  const ScratchFolder folder("ledger");
  const auto file = folder.path() / "ledger.jsonl";
  const LedgerEntry first{"2026-04-02", "alpha", "first", "A 95", "C+ 79", {}};
  const LedgerEntry second{"2026-04-03", "bravo", "first", "B 84", "F 5", {"x"}};
  for (std::size_t cut = 1; cut < ledger_line(second).size(); cut += 9) {
    write_file(file, ledger_line(first) + ledger_line(second).substr(0, cut));
    CHECK(load_ledger(file) == std::vector{first});
    append_to_ledger(file, {second});
    CHECK(read_file(file) == ledger_line(first) + ledger_line(second));
  }
  write_file(file, "[\"half");
  CHECK(load_ledger(file).empty());
}

TEST_CASE("processes that write a ledger at once lose none of their lines") {
  const ScratchFolder folder("ledger");
  const auto file = folder.path() / "ledger.jsonl";
  constexpr int kProcesses = 4;
  constexpr int kEntries = 25;
  for (int i = 0; i < kProcesses; ++i)
    if (fork() == 0) {
      for (int n = 0; n < kEntries; ++n)
        append_to_ledger(file, {{std::to_string(n), std::to_string(i), "first", "A", "B", {}}});
      _exit(0);
    }
  for (int i = 0; i < kProcesses; ++i) wait(nullptr);
  std::map<std::string, int> next;
  for (const LedgerEntry& entry : load_ledger(file))
    CHECK(entry.when == std::to_string(next[entry.submission]++));
  CHECK(next == std::map<std::string, int>{{"0", 25}, {"1", 25}, {"2", 25}, {"3", 25}});
}

TEST_CASE("a line that a full disk has no room for is not there") {
  const ScratchFolder folder("ledger");
  const auto file = folder.path() / "ledger.jsonl";
  const LedgerEntry entry{"2026-04-02", "alpha", "first", "A 95", "C+ 79", {}};
  append_to_ledger(file, {entry});
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);  // write() fails instead
    const rlimit limit{ledger_line(entry).size() + 9, ledger_line(entry).size() + 9};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(9);
    try {
      append_to_ledger(file, {entry});
    } catch (const UserError& error) {
      _exit(std::string(error.what()).find("ledger.jsonl: writing: File too large") !=
                    std::string::npos
                ? 0
                : 2);
    }
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(read_file(file) == ledger_line(entry));
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
