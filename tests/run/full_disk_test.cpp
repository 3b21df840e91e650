// SPDX-License-Identifier: Apache-2.0
// A disk that fills up while a result is kept: told, and made up for when there is room again.
#include <csignal>
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "harness/core/error.h"
#include "harness/store/ledger.h"
#include "harness/store/observation_json.h"
#include "harness/store/reuse.h"
#include "tests/run/quick_runner.h"

using namespace gauntlet;

namespace {

/// Grades where files can grow to so many bytes: 0 when it was told which file has no room.
int grade_with_room_for(std::size_t bytes, const ResultStore& store, const GradedCell& cell,
                        const std::filesystem::path& log) {
  const pid_t child = fork();
  if (child == 0) {
    QuickRunner runner({cell}, log);
    std::signal(SIGXFSZ, SIG_IGN);  // write() fails instead
    const rlimit limit{bytes, bytes};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(9);
    try {
      grade_quickly(store, {cell}, runner, [](const CellEvent&) {});
    } catch (const UserError& error) {
      _exit(std::string(error.what()).starts_with("cannot write ") ? 0 : 1);
    }
    _exit(2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("a result that a full disk has no room for is none, and is graded when there is room") {
  const ScratchFolder folder("full-disk");
  const ResultStore store(folder.path() / "results");
  const auto log = folder.path() / "log";
  const GradedCell before = quick_cell("bravo", 1);
  const GradedCell after = quick_cell("bravo", 2);
  QuickRunner runner({before, after}, folder.path() / "first.log");
  grade_quickly(store, {before}, runner, [](const CellEvent&) {});
  const std::string whole = to_json(before.observation);

  // The least that a file of it takes, and less than the largest.
  for (const std::size_t room : {std::size_t{100}, std::size_t{1000}, whole.size() - 1}) {
    CAPTURE(room);
    CHECK(grade_with_room_for(room, store, after, log) == 0);
    CHECK_FALSE(planned(store, after).reused.has_value());
    CHECK_FALSE(std::filesystem::exists(store.ledger_file()));
    REQUIRE(load_all_marked(store).size() == 1);
    CHECK(to_json(load_all_marked(store)[0]) == whole);
  }
  QuickRunner again({after}, folder.path() / "second.log");
  grade_quickly(store, {after}, again, [](const CellEvent&) {});
  CHECK(planned(store, after).reused.has_value());
  CHECK(load_ledger(store.ledger_file()).size() == 1);
}
