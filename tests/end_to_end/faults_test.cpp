// SPDX-License-Identifier: Apache-2.0
// What breaks around a grading: the disk, the supervisor itself, the machine's processes. No silent
// score, nothing half-written, nothing left running, and the next grading works.
#include <cerrno>
#include <chrono>
#include <csignal>
#include <doctest/doctest.h>
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "harness/cli/exit_codes.h"
#include "harness/run/local_runner.h"
#include "tests/cli/checkout.h"
#include "tests/end_to_end/grading_environment.h"

using namespace gauntlet;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

constexpr int kCannotMount = 99;

/// A checkout with one submission that is worth grading, but for its races and its tests.
struct Bench : Checkout {
  Bench() {
    challenge = kChallenge;
    add_submission("bravo");
    const fs::path folder = fs::path("submissions");
    fs::copy_file(fs::path(GAUNTLET_ROOT) / folder / "textbook" / kChallenge / "solution.cpp",
                  root() / folder / "bravo" / kChallenge / "solution.cpp",
                  fs::copy_options::overwrite_existing);
  }
  /// Of some checks, which take a second or two: long enough to be killed in.
  std::vector<std::string> grading() const {
    CellRequest request = untimed_request("bravo", root() / "submissions/bravo" / kChallenge);
    request.only_checks = {"every_argument", "every_refusal", "refused_between_calls"};
    return run_cell(request, root() / "request.json", results().root());
  }
  fs::path file(const char* name) const { return results().root() / "bravo" / kChallenge / name; }
};

template <class Work>
int exit_code_of_fork(const Work& work) {
  const pid_t pid = fork();
  if (pid == 0) _exit(work());
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// A disk of this size over `folder`, for this process and its children only.
bool mount_disk(const fs::path& folder, const char* size) {
  return unshare(CLONE_NEWNS) == 0 &&
         mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("tmpfs", folder.c_str(), "tmpfs", 0, size) == 0;
}

// They are killed at once; how soon the kernel has ended them depends on what else it has to do.
// After a hundred gradings, and beside other tests, 5 s were seen not to be enough.
constexpr auto kKernelsTime = 60s;

/// Waits until the last of our children and of their orphans has ended.
bool all_end_within(std::chrono::milliseconds longest) {
  const auto end = std::chrono::steady_clock::now() + longest;
  while (std::chrono::steady_clock::now() < end) {
    const pid_t ended = waitpid(-1, nullptr, WNOHANG);
    if (ended < 0 && errno == ECHILD) return true;
    if (ended == 0) std::this_thread::sleep_for(5ms);
  }
  return false;
}

pid_t start_grading(const Bench& bench) {
  std::vector<std::string> words{std::string(GAUNTLET_BIN) + "/gauntlet", "-q", "--root",
                                 bench.root().string()};
  for (const std::string& word : bench.grading()) words.push_back(word);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t pid = fork();
  if (pid != 0) return pid;
  execv(arguments[0], arguments.data());
  _exit(127);
}

bool appears_within(const fs::path& file, std::chrono::seconds longest) {
  const auto end = std::chrono::steady_clock::now() + longest;
  while (!fs::exists(file) && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(5ms);
  return fs::exists(file);
}

/// What is in the folder and is no file that the store names.
std::vector<std::string> leftovers(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() != ".json" && entry.path().filename() != "lock")
      names.push_back(entry.path().filename().string());
  return names;
}

}  // namespace

TEST_CASE("a disk that is full when the grade is written ends the run with the reason") {
  const Bench bench;
  fs::create_directories(bench.results().root());
  const int code = exit_code_of_fork([&] {
    // Room for the receipt that is opened, not for what was observed.
    if (!mount_disk(bench.results().root(), "size=8k")) return kCannotMount;
    const Ran ran = bench.run(bench.grading());
    if (ran.code != kExitUsage) return 1;
    if (ran.err.find("observation.json: writing: No space left on device") == ran.err.npos)
      return 2;
    if (!fs::exists(bench.file("opened.json"))) return 3;
    if (fs::exists(bench.file("observation.json")) || fs::exists(bench.file("score.json")) ||
        fs::exists(bench.file("receipt.json")))
      return 4;
    return leftovers(bench.file("")).empty() ? 0 : 5;
  });
  if (code == kCannotMount) {
    MESSAGE("no disk can be mounted here; this test is skipped");
    return;
  }
  CHECK(code == 0);
}

TEST_CASE("a supervisor that is killed leaves nothing running, and the next grading works") {
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);  // orphans come to us, where they can be counted
  const Bench bench;
  SUBCASE("while it builds") {
    const pid_t supervisor = start_grading(bench);
    REQUIRE(appears_within(bench.root() / "build/cache/timing.lock", 20s));
    kill(supervisor, SIGKILL);
    CHECK(all_end_within(kKernelsTime));
    CHECK_FALSE(fs::exists(bench.file("opened.json")));
  }
  SUBCASE("while it asks") {
    const pid_t supervisor = start_grading(bench);
    REQUIRE(appears_within(bench.file("opened.json"), 60s));
    std::this_thread::sleep_for(700ms);
    kill(supervisor, SIGKILL);
    CHECK(all_end_within(kKernelsTime));
    CHECK(fs::exists(bench.file("opened.json")));
    CHECK_FALSE(receipt_from_json(read_file(bench.file("opened.json")), "opened.json").closing);
    CHECK(leftovers(bench.file("")).empty());
  }
  CHECK_FALSE(fs::exists(bench.file("observation.json")));
  CHECK_FALSE(fs::exists(bench.file("receipt.json")));
  const Ran again = bench.run(bench.grading());
  INFO(again.err);
  CHECK(again.code == kExitDone);
  CHECK(fs::exists(bench.file("receipt.json")));
  CHECK_FALSE(fs::exists(bench.file("opened.json")));
}

TEST_CASE("a machine that gives no process to grade in is tried once more, then our fault") {
  const Bench bench;
  CellRequest request;
  request.submission = "bravo";
  request.challenge = load_challenge(bench.root(), kChallenge);
  request.solution = read_solution(bench.root() / "submissions/bravo" / kChallenge);
  const GradingEnvironment environment{bench.root(), bench.worker_folder / "gauntlet-worker",
                                       bench.root() / "build/cache", "test"};
  const int code = exit_code_of_fork([&] {
    constexpr uid_t kNobody = 60998;
    if (geteuid() == 0 && (setgroups(0, nullptr) != 0 || setresuid(kNobody, kNobody, kNobody) != 0))
      return 1;
    const rlimit alone{1, 1};
    if (setrlimit(RLIMIT_NPROC, &alone) != 0) return 2;
    int done = 0;
    const auto cells =
        LocalRunner(environment, 2).grade({request, request}, [&](const CellEvent& event) {
          done += event.kind == CellEvent::Kind::cell_done;
        });
    if (cells.size() != 2 || done != 2) return 3;
    for (const CellObservation& cell : cells)
      for (const CheckObservation& check : cell.checks)
        if (check.verdict != Verdict::broken ||
            check.finding->summary.find("cannot start a process") != 0)
          return 4;
    return 0;
  });
  CHECK(code == 0);
}
