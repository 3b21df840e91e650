// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/timing_gate.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/files.h"

using namespace gauntlet;
using std::chrono::milliseconds;

namespace {

void say_nothing(const std::string&) {}

mode_t mode_of(const std::filesystem::path& file) {
  struct stat about {};
  REQUIRE(stat(file.c_str(), &about) == 0);
  return about.st_mode & 07777;
}

}  // namespace

TEST_CASE("no other user may open the timing lock, not even one that an older version made") {
  const ScratchFolder folder("gate");
  const auto file = folder.path() / "timing.lock";
  write_file(file, "");
  REQUIRE(mode_of(file) == 0644);
  const TimingGate gate(folder.path(), say_nothing);
  CHECK(mode_of(file) == 0600);
}

TEST_CASE("a timing lock that is somebody else's, a link or a pipe is refused") {
  const ScratchFolder folder("gate");
  const auto file = folder.path() / "timing.lock";
  const auto complains = [&](const char* why) {
    CHECK_THROWS_WITH_AS(TimingGate(folder.path(), say_nothing), doctest::Contains(why), UserError);
  };
  std::filesystem::create_symlink("elsewhere", file);
  complains("cannot write");
  CHECK_FALSE(std::filesystem::exists(folder.path() / "elsewhere"));
  std::filesystem::remove(file);
  REQUIRE(mkfifo(file.c_str(), 0600) == 0);
  complains("is no file of this user's");
  if (geteuid() != 0) return;
  std::filesystem::remove(file);
  write_file(file, "");
  REQUIRE(chown(file.c_str(), 1, 1) == 0);
  complains("(it is user 1's)");
}

TEST_CASE("who waits says for whom, and gives up on a holder that never ends") {
  const ScratchFolder folder("gate");
  std::vector<std::string> said;
  TimingGate gate(folder.path(), [&](const std::string& text) { said.push_back(text); },
                  {milliseconds(1), milliseconds(20)});
  const int holder = open((folder.path() / "timing.lock").c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(flock(holder, LOCK_EX) == 0);
  for (const bool alone : {true, false})
    CHECK_THROWS_WITH_AS(alone ? gate.own() : gate.share(), doctest::Contains("end that"), Broken);
  REQUIRE(said.size() == 2);
  CHECK(said[0] ==
        fmt::format("waiting for the race or the checks of another cell (pid {})", getpid()));
  REQUIRE(flock(holder, LOCK_UN) == 0);
  gate.own();
  gate.share();
  CHECK(said.size() == 2);
  close(holder);
}
