// SPDX-License-Identifier: Apache-2.0
// A hundred gradings at once: each says what one alone says, and nothing of them stays.
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <string>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "harness/core/files.h"
#include "harness/grading/cell.h"
#include "harness/run/local_runner.h"
#include "harness/sandbox/fd.h"
#include "tests/end_to_end/grading_environment.h"

using namespace gauntlet;
namespace fs = std::filesystem;

namespace {

constexpr int kCrowd = 100;

/// Temporary files of this process and of its children lie in a folder of their own.
class OwnTemporaries {
 public:
  OwnTemporaries() { setenv("TMPDIR", folder_.path().c_str(), 1); }
  ~OwnTemporaries() { unsetenv("TMPDIR"); }
  bool empty() const { return fs::is_empty(folder_.path()); }

 private:
  ScratchFolder folder_{"crowd"};
};

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  std::error_code ignored;  // there may be no /dev/shm
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    names.insert(entry.path().filename().string());
  return names;
}

/// What our open descriptors lead to; a memfd that leaked would be one more.
std::multiset<std::string> open_files() {
  std::multiset<std::string> targets;
  std::error_code gone;  // the descriptor that reads the folder itself
  for (const auto& entry : fs::directory_iterator("/proc/self/fd"))
    if (const fs::path target = fs::read_symlink(entry.path(), gone); !gone)
      targets.insert(target.string());
  return targets;
}

bool nobody_is_left() {
  return waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD;
}

bool is_free(const fs::path& lock) {
  const Fd file(open(lock.c_str(), O_RDWR | O_CLOEXEC));
  return file && flock(file.get(), LOCK_EX | LOCK_NB) == 0;
}

/// A submission's cell, asked some quick checks, always with the same seed. None of them asks for
/// three threads or more: what those of a wrong submission sum up depends on who is first.
CellRequest request(const std::string& submission) {
  CellRequest request;
  request.submission = submission;
  request.challenge = load_challenge(GAUNTLET_ROOT, kChallenge);
  // Each gets a hundredth of the machine.
  request.challenge.call_seconds = 300;
  request.challenge.check_seconds = request.challenge.cell_seconds = 3600;
  request.solution =
      read_solution(fs::path(GAUNTLET_ROOT) / "submissions" / submission / kChallenge);
  request.seed = 7;
  request.only_checks = {"all_gradients", "offset_ladder", "strides", "gamma_zeros"};
  request.races = false;
  request.grade_tests = false;
  return request;
}

/// What a grading came to: everything but times and the commitment, which differ by design.
std::string account(const GradedCell& cell) {
  REQUIRE(cell.receipt);
  std::string text = cell.observation.key.submission + cell.observation.build.messages;
  for (const CheckObservation& check : cell.observation.checks)
    text += check.info.id + (check.finding ? check.finding->summary : "");
  return text + cases_digest(*cell.receipt->closing) + outputs_digest(*cell.receipt->closing);
}

/// The accounts of so many gradings, so many at once, of a right and a wrong submission in turns.
std::vector<std::string> accounts(const GradingEnvironment& environment, int count, int at_once) {
  std::vector<CellRequest> requests;
  for (int i = 0; i < count; ++i) requests.push_back(request(i % 2 == 0 ? "textbook" : "hasty"));
  std::vector<std::string> found;
  LocalRunner(environment, at_once)
      .grade(
          requests, [](const CellEvent&) {},
          [&](const GradedCell& cell) { found.push_back(account(cell)); });
  return found;
}

}  // namespace

TEST_CASE("a hundred gradings at once say what one alone says, and leave nothing behind") {
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);  // orphans come to us, where they can be counted
  const ScratchFolder cache("crowd-cache");   // the two build, the hundred do not
  const OwnTemporaries temporaries;
  const GradingEnvironment environment{GAUNTLET_ROOT, fs::path(GAUNTLET_BIN) / "gauntlet-worker",
                                       cache.path(), "test"};
  const auto shared_before = names_in("/dev/shm");
  const std::vector<std::string> alone = accounts(environment, 2, 1);
  REQUIRE(alone.size() == 2);
  REQUIRE(alone[0] != alone[1]);
  const auto files_before = open_files();
  const std::vector<std::string> crowd = accounts(environment, kCrowd, kCrowd);
  REQUIRE(crowd.size() == kCrowd);
  for (const std::string& one : crowd) CHECK((one == alone[0] || one == alone[1]));
  CHECK(std::count(crowd.begin(), crowd.end(), alone[0]) == kCrowd / 2);

  CHECK(nobody_is_left());
  CHECK(open_files() == files_before);
  CHECK(temporaries.empty());
  CHECK(is_free(environment.cache / "timing.lock"));
  for (const std::string& name : names_in("/dev/shm"))
    CHECK_MESSAGE((shared_before.contains(name) || name.starts_with(".org.chromium")), name);
}
