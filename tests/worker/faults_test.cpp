// SPDX-License-Identifier: Apache-2.0
// When it is we who fail: a grading process that is killed takes its worker along, and a machine
// that gives us no process is our fault and nobody's bad grade.

#include <cerrno>
#include <chrono>
#include <csignal>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "harness/core/error.h"
#include "harness/sandbox/run_command.h"
#include "worker_fixture.h"

using namespace gauntlet;
using namespace gauntlet::test;

namespace {

/// Waits until the last of our children and of their orphans has ended.
bool all_end_within(std::chrono::milliseconds longest) {
  const auto end = std::chrono::steady_clock::now() + longest;
  while (std::chrono::steady_clock::now() < end) {
    const pid_t ended = waitpid(-1, nullptr, WNOHANG);
    if (ended < 0 && errno == ECHILD) return true;
    if (ended == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

/// 0 when no worker could be started and the reason was given.
int fail_to_start(const WorkerConfig& config) {
  const rlimit alone{1, 1};
  if (setrlimit(RLIMIT_NPROC, &alone) != 0) return 2;
  try {
    WorkerSession session(config);
    WorkCall call(256);
    session.run(call);
  } catch (const Broken& error) {
    return contains(error.what(), "fork") ? 0 : 3;
  } catch (const SolutionFailure&) {
    return 4;
  }
  return 5;
}

}  // namespace

TEST_CASE("a grading process that is killed leaves nothing running") {
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);  // orphans come to us, where they can be counted
  const WorkerConfig config = config_for(work("for (;;) pause();", "#include <unistd.h>"));
  const pid_t grader = fork();
  if (grader == 0) {
    WorkerSession session(config);
    WorkCall call(256);
    session.run(call);
    _exit(0);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // the worker is in its call
  kill(grader, SIGKILL);
  CHECK(all_end_within(std::chrono::seconds(5)));
}

TEST_CASE("a supervisor that is killed at any moment of a start leaves nothing running") {
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  const ScratchFolder folder("faults-test");
  run_command({{"/bin/true"}, folder.path()}, Limits());  // the walls are tried here, not in each
  for (int tenths = 0; tenths < 60; ++tenths) {           // a start takes some 3 ms
    const pid_t supervisor = fork();
    if (supervisor == 0) {
      run_command({{"/bin/sleep", "1000"}, folder.path()}, Limits());
      _exit(0);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100 * tenths));
    kill(supervisor, SIGKILL);
    INFO("after ", tenths, " tenths of a millisecond");
    REQUIRE(all_end_within(std::chrono::seconds(60)));
  }
}

TEST_CASE("a process that cannot be made is our fault") {
  WorkerConfig config = config_for(work("args->y[0] = 1; return 0;"));
  const ScratchFolder open("faults-test");
  open_to_everybody(config, open);
  CHECK(as_ordinary_user(60998, [&] { return fail_to_start(config); }) == 0);
}
