// SPDX-License-Identifier: Apache-2.0
// What a sandboxed command runs into, and that nothing of it survives.

#include <chrono>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "harness/sandbox/control_group.h"
#include "harness/sandbox/spare_user.h"
#include "sandbox_fixture.h"

using namespace gauntlet;
using namespace gauntlet::test;

namespace {

/// Processes of this machine whose command line holds the mark.
int processes_with(const std::string& mark) {
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto file = entry.path() / "cmdline";
    if (entry.path().filename().string().find_first_not_of("0123456789") != std::string::npos)
      continue;
    try {
      found += contains(read_file(file), mark);
    } catch (const UserError&) {  // it ended while we looked
    }
  }
  return found;
}

/// Control groups that this process, or `owner`, has made and not removed.
std::vector<std::filesystem::path> control_groups(pid_t owner = getpid()) {
  std::vector<std::filesystem::path> groups;
  std::error_code gone;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("/sys/fs/cgroup", gone))
    if (entry.path().filename().string().starts_with(fmt::format("gauntlet-{}-", owner)))
      groups.push_back(entry.path());
  return groups;
}

}  // namespace

TEST_CASE("wall-clock time is limited, asleep or stopped or deaf to signals") {
  Box box;
  box.limits.wall_seconds = 0.3;
  for (const char* script :
       {"sleep 100", "kill -STOP $$", "trap '' TERM INT HUP; while :; do sleep 1; done"}) {
    const CommandResult result = box.shell(script);
    REQUIRE(std::holds_alternative<OverRan>(result.outcome));
    CHECK(describe(result.outcome) == "more than 0.3 s of wall-clock time");
    CHECK(result.seconds < 3);
  }
}

TEST_CASE("CPU time is limited") {
  Box box;
  box.limits.cpu_seconds = 1;
  const CommandResult result = box.shell("while :; do :; done");
  CHECK(describe(result.outcome) == "more than 1 s of CPU time");
}

TEST_CASE("what its processes take together is limited where there are control groups") {
  const auto probe = ControlGroup::make(Limits());
  if (!probe || !contains(probe->powers(), "memory")) {
    MESSAGE("no control group that bounds memory here");
    return;
  }
  Box box;
  box.limits.memory_bytes = std::size_t{256} << 20;
  const std::string take = "perl -e '$x = \"x\" x (100 << 20); sleep 2' & ";
  Command command{{"/bin/sh", "-c", take + take + "wait %1 && wait %2"}, box.folder.path()};
  CHECK(describe(run_command(command, box.limits).outcome) == "more memory than allowed");
  command.walls.cgroups = false;
  CHECK(describe(run_command(command, box.limits).outcome) == "exit code 0");
}

TEST_CASE("no control group is left behind") {
  const Box box;
  box.shell("sleep 100 & exit 0");
  CHECK(control_groups().empty());
}

TEST_CASE("the control group of a program that was killed is removed by the next one") {
  const pid_t killed = fork();
  if (killed == 0) {
    [[maybe_unused]] const auto group = ControlGroup::make(Limits());
    _exit(0);  // no destructor runs
  }
  waitpid(killed, nullptr, 0);
  const auto left = control_groups(killed);
  if (left.empty()) {
    MESSAGE("no control groups here");
    return;
  }
  const Box box;
  box.shell("true");
  CHECK(control_groups(killed) == left);  // it may just have been made
  const timespec then[2] = {{time(nullptr) - 120, 0}, {time(nullptr) - 120, 0}};
  for (const auto& group : left) REQUIRE(utimensat(AT_FDCWD, group.c_str(), then, 0) == 0);
  box.shell("true");
  CHECK(control_groups(killed).empty());
}

TEST_CASE("memory is limited") {
  Box box;
  box.limits.memory_bytes = std::size_t{64} << 20;
  const CommandResult result = box.perl("my @held; push @held, 'x' x 1000000 while 1;");
  CHECK(std::holds_alternative<OverMemory>(result.outcome));
}

TEST_CASE("output is limited, and its beginning kept") {
  Box box;
  const CommandResult kept = box.perl("print 'x' x 200000");
  CHECK(exit_code(kept) == 0);
  CHECK(kept.output == std::string(65'536, 'x'));
  const CommandResult flood = box.shell("yes");
  CHECK(std::holds_alternative<OverOutput>(flood.outcome));
  CHECK(flood.output.size() == 64 * 1024);
}

TEST_CASE("the size of a file is limited") {
  Box box;
  box.limits.file_bytes = 1 << 20;
  const CommandResult result = box.shell("head -c 10000000 /dev/urandom > large");
  CHECK(exit_code(result) != 0);
  CHECK(std::filesystem::file_size(box.folder.path() / "large") <= 1 << 20);
}

TEST_CASE("processes are limited") {
  Box box;
  box.limits.processes = 16;
  const CommandResult result = box.perl(R"(
    my $made = 0;
    for (1 .. 2000) {
      my $pid = fork();
      last unless defined $pid;
      if ($pid == 0) { sleep 100; exit }
      ++$made;
    }
    print $made;)");
  CHECK(exit_code(result) == 0);
  // Where the sandbox has no user of its own, the user's other processes are not in the limit.
  CHECK(std::stoi(result.output) < (geteuid() == 0 ? 16 : 1000));
}

TEST_CASE("no process survives the end of a command, however it was left behind") {
  const Box box;
  const std::string mark = fmt::format("{}", 770000 + getpid());
  for (const char* way :
       {"sleep {} & exit 0", "(sleep {} &) ; exit 0", "setsid sleep {} & sleep 0.2; exit 0",
        "nohup sleep {} >/dev/null 2>&1 & exit 3"}) {
    box.shell(fmt::format(fmt::runtime(way), mark));
    CHECK_MESSAGE(processes_with(mark) == 0, way);
  }
}

TEST_CASE("no process survives a limit") {
  Box box;
  box.limits.wall_seconds = 0.3;
  const std::string mark = fmt::format("{}", 780000 + getpid());
  box.shell(fmt::format("sleep {0} & (sleep {0} & sleep {0}) & wait", mark));
  CHECK(processes_with(mark) == 0);
}

TEST_CASE("two spare users at the same time are different, and come back") {
  if (geteuid() != 0) return;
  uid_t first_id = 0;
  {
    const auto first = SpareUser::take_if_root();
    const auto second = SpareUser::take_if_root();
    CHECK(first->id() != second->id());
    CHECK(first->id() > 60000);
    first_id = first->id();
  }
  CHECK(SpareUser::take_if_root()->id() == first_id);
}

TEST_CASE("no other user can hold the spare users") {
  if (geteuid() != 0) return;
  // Names of sockets belong to whoever comes first; they once were the claims.
  std::vector<Fd> taken;
  for (int id = 60001; id <= 60999; ++id) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = fmt::format("gauntlet-uid-{}", id);
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    taken.emplace_back(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    [[maybe_unused]] const int bound =  // one that is taken already is as good
        bind(taken.back().get(), reinterpret_cast<const sockaddr*>(&address), size);
  }
  CHECK(SpareUser::take_if_root());
}

TEST_CASE("a folder of claims that is not root's alone is refused") {
  if (geteuid() != 0) return;
  const ScratchFolder folder("claims");
  const std::filesystem::path claims = folder.path() / "claims";
  const auto said = [&] {
    try {
      SpareUser::take_if_root(claims);
    } catch (const Broken& error) {
      return std::string(error.what());
    }
    return std::string("no complaint");
  };
  CHECK(said() == "no complaint");
  REQUIRE(chmod(claims.c_str(), 0755) == 0);
  CHECK(contains(said(), "wanted root and 700"));
  REQUIRE(chmod(claims.c_str(), 0700) == 0);
  REQUIRE(chown(claims.c_str(), 1, 1) == 0);
  CHECK(contains(said(), "belongs to user 1 "));
  std::filesystem::rename(claims, folder.path() / "elsewhere");
  REQUIRE(chown((folder.path() / "elsewhere").c_str(), 0, 0) == 0);
  std::filesystem::create_directory_symlink("elsewhere", claims);
  CHECK(contains(said(), "cannot open the folder"));
}
