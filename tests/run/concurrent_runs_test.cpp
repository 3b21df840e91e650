// SPDX-License-Identifier: Apache-2.0
// Two gauntlets at once: what one is grading, the other waits for and uses.
#include <csignal>
#include <doctest/doctest.h>
#include <sstream>
#include <sys/wait.h>

#include "harness/core/files.h"
#include "harness/store/reuse.h"
#include "tests/run/quick_runner.h"

using namespace gauntlet;

namespace fs = std::filesystem;

namespace {

/// A pipe on which one process tells another that it has come somewhere.
class Signal {
 public:
  Signal() { REQUIRE(pipe(ends_) == 0); }
  ~Signal() {
    close(ends_[0]);
    close(ends_[1]);
  }
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  void give() const {
    if (write(ends_[1], "x", 1) != 1) _exit(9);
  }
  void await() const {
    char byte = 0;
    if (read(ends_[0], &byte, 1) != 1) _exit(9);
  }

 private:
  int ends_[2] = {-1, -1};
};

/// How often the log says this.
int count(const fs::path& log, const std::string& wanted) {
  std::istringstream lines(read_file(log));
  int found = 0;
  for (std::string line; std::getline(lines, line);) found += line == wanted ? 1 : 0;
  return found;
}

/// A process that grades these and stands still in the first of them until it is let go.
pid_t grade_slowly(const ResultStore& store, const std::vector<GradedCell>& cells,
                   const fs::path& log, const Signal& begun, const Signal& go_on) {
  const pid_t child = fork();
  if (child != 0) return child;
  QuickRunner runner(cells, log);
  runner.while_grading = [&, first = true]() mutable {
    if (first) {
      begun.give();
      go_on.await();
    }
    first = false;
  };
  grade_quickly(store, cells, runner, [](const CellEvent&) {});
  _exit(0);
}

bool ended_well(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

TEST_CASE("of two runs of the same cells one grades and the other uses its results") {
  const ScratchFolder folder("two-runs");
  const ResultStore store(folder.path() / "results");
  const fs::path log = folder.path() / "log";
  const std::vector<GradedCell> cells{quick_cell("alpha", 1), quick_cell("bravo", 1)};
  const Signal begun;
  const Signal go_on;
  const pid_t other = grade_slowly(store, cells, log, begun, go_on);
  begun.await();
  QuickRunner runner(cells, log);
  std::string waited;
  const auto plan = grade_quickly(store, {cells[1], cells[0]}, runner, [&](const CellEvent& event) {
    if (event.kind == CellEvent::Kind::waiting && waited.empty()) go_on.give();
    if (event.kind == CellEvent::Kind::waiting) waited += event.key.submission + " ";
  });
  CHECK(ended_well(other));
  CHECK(waited.starts_with("alpha "));
  for (const PlannedCell& cell : plan) CHECK(cell.reused.has_value());
  for (const char* line : {"begin alpha", "begin bravo"}) CHECK(count(log, line) == 1);
  CHECK_FALSE(fs::exists(store.ledger_file()));
}

TEST_CASE("runs of different cells do not wait for each other") {
  const ScratchFolder folder("two-runs");
  const ResultStore store(folder.path() / "results");
  const fs::path log = folder.path() / "log";
  const Signal begun;
  const Signal go_on;
  const pid_t other = grade_slowly(store, {quick_cell("alpha", 1)}, log, begun, go_on);
  begun.await();
  const std::vector<GradedCell> cells{quick_cell("bravo", 1)};
  QuickRunner runner(cells, log);
  grade_quickly(store, cells, runner,
                [&](const CellEvent& event) { CHECK(event.kind != CellEvent::Kind::waiting); });
  CHECK(count(log, "kept bravo") == 1);
  go_on.give();
  CHECK(ended_well(other));
  CHECK(load_all_marked(store).size() == 2);
}

TEST_CASE("a run whose process was killed keeps nobody waiting") {
  const ScratchFolder folder("two-runs");
  const ResultStore store(folder.path() / "results");
  const fs::path log = folder.path() / "log";
  const std::vector<GradedCell> cells{quick_cell("alpha", 1)};
  const Signal begun;
  const Signal go_on;
  const pid_t other = grade_slowly(store, cells, log, begun, go_on);
  begun.await();
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
  QuickRunner runner(cells, log);
  grade_quickly(store, cells, runner, [](const CellEvent&) {});
  CHECK(count(log, "kept alpha") == 1);
}
