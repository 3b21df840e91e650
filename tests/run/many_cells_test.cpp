// SPDX-License-Identifier: Apache-2.0
// What a run of many cells takes: counted in bytes and files, since seconds are not the same twice.
#include <doctest/doctest.h>
#include <fstream>
#include <sys/resource.h>
#include <sys/wait.h>

#include "harness/store/ledger.h"
#include "tests/run/quick_runner.h"

using namespace gauntlet;

namespace {

std::vector<GradedCell> quick_cells(int count, int version) {
  std::vector<GradedCell> cells;
  for (int i = 0; i < count; ++i) cells.push_back(quick_cell(fmt::format("model{}", i), version));
  return cells;
}

/// That this process has read so far, from files and whatever else can be read.
double bytes_read() {
  std::ifstream file("/proc/self/io");
  std::string name;
  double bytes = 0;
  file >> name >> bytes;
  REQUIRE(name == "rchar:");
  return bytes;
}

struct BytesRead {
  double replacing;
  double reusing;
};

/// By a run that replaces the results of so many cells, and by one that finds nothing changed.
BytesRead read_by_runs_of(int cells) {
  const ScratchFolder folder("many-cells");
  const ResultStore store(folder.path() / "results");
  const auto grade = [&](int version) {
    const auto answers = quick_cells(cells, version);
    QuickRunner runner(answers, folder.path() / "log");
    const double before = bytes_read();
    grade_quickly(store, answers, runner, [](const CellEvent&) {});
    return bytes_read() - before;
  };
  grade(1);
  const double replacing = grade(2);
  CHECK(load_ledger(store.ledger_file()).size() == static_cast<std::size_t>(cells));
  return {replacing, grade(2)};
}

}  // namespace

TEST_CASE("for twice as many cells a run reads twice as much") {
  const BytesRead some = read_by_runs_of(200);
  const BytesRead many = read_by_runs_of(400);
  // Names are longer by a digit here and there.
  CHECK(many.replacing < 2.05 * some.replacing);
  CHECK(many.reusing < 2.05 * some.reusing);
  CHECK(many.reusing > 1.95 * some.reusing);  // or nothing was counted
}

TEST_CASE("a run of more cells than a process may have files open claims them all") {
  const ScratchFolder folder("many-cells");
  const pid_t child = fork();
  if (child == 0) {
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = 64;
    if (setrlimit(RLIMIT_NOFILE, &files) != 0) _exit(9);
    try {
      const ResultStore store(folder.path() / "results");
      const auto answers = quick_cells(100, 1);
      QuickRunner runner(answers, folder.path() / "log");
      grade_quickly(store, answers, runner, [](const CellEvent&) {});
      _exit(store.load_all().size() == 100 ? 0 : 1);
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}\n", error.what());
      _exit(2);
    }
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
