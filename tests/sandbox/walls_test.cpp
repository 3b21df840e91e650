// SPDX-License-Identifier: Apache-2.0
// What a sandboxed command cannot reach.

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "harness/sandbox/fd.h"
#include "harness/sandbox/file_view.h"
#include "harness/sandbox/filter_builder.h"
#include "harness/sandbox/launch.h"
#include "harness/sandbox/namespaces.h"
#include "sandbox_fixture.h"

using namespace gauntlet;
using namespace gauntlet::test;

namespace {

/// What it returns in a child, which may change what it is; -1 where that throws or is ended.
template <class Act>
int code_of_child(const Act& act) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      _exit(act());
    } catch (...) {
      abort();
    }
  }
  int status = 0;
  const bool ended = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status);
  return ended ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("a command runs, prints and says how it ended") {
  const Box box;
  const CommandResult result = box.shell("echo out; echo err >&2; exit 7");
  CHECK(exit_code(result) == 7);
  CHECK(result.output == "out\nerr\n");
  CHECK(result.seconds > 0);
}

TEST_CASE("its folder is its working folder, and it may write there") {
  const Box box;
  CHECK(exit_code(box.shell(
            "echo 42 > made && mkdir deep && mv made deep/moved && cat deep/moved")) == 0);
  CHECK(read_file(box.folder.path() / "deep/moved") == "42\n");
}

TEST_CASE("it writes nowhere else") {
  const ScratchFolder other("sandbox-test-other");
  chmod(other.path().c_str(), 0777);
  const Box box;
  for (const std::string& place : {other.path().string(), std::string("/tmp"),
                                   std::string("/dev/shm"), std::string("/var/tmp")})
    CHECK(exit_code(box.shell(fmt::format("echo 1 > {}/gauntlet-note", place))) != 0);
  CHECK(access((other.path() / "gauntlet-note").c_str(), F_OK) != 0);
}

TEST_CASE("it reads nothing of ours, not even what everybody may read") {
  const ScratchFolder other("sandbox-test-other");
  chmod(other.path().c_str(), 0777);
  write_file(other.path() / "secret", "the answer");
  const Box box;
  const auto cat = [&](const std::string& file, bool mounts) {
    Command command{{"/bin/cat", file}, box.folder.path()};
    command.walls.mounts = mounts;
    return run_command(command, box.limits);
  };
  for (const std::string& file :
       {(other.path() / "secret").string(), std::string("/etc/passwd"),
        fmt::format("/proc/{}/cmdline", getpid()), std::string("/proc/cpuinfo")}) {
    const CommandResult with_its_own = cat(file, true);
    CHECK(exit_code(with_its_own) != 0);
    CHECK_FALSE(contains(with_its_own.output, "the answer"));
    const CommandResult among_ours = cat(file, false);
    CHECK(exit_code(among_ours) != 0);
    CHECK(contains(among_ours.output, "Permission denied"));
  }
  CHECK(exit_code(box.shell("ls /tmp")) != 0);
}

TEST_CASE("with files of its own it sees no others, Landlock or not") {
  if (!why_no_file_view().empty()) {
    MESSAGE("no files of its own here: ", why_no_file_view());
    return;
  }
  const ScratchFolder other("sandbox-test-other");
  chmod(other.path().c_str(), 0777);
  write_file(other.path() / "secret", "the answer");
  const Box box;
  const auto shell = [&](const std::string& script, bool mounts) {
    Command command{{"/bin/sh", "-c", script}, box.folder.path()};
    command.walls.landlock = false;
    command.walls.mounts = mounts;
    return run_command(command, box.limits);
  };
  const std::string secret = (other.path() / "secret").string();
  CHECK(shell("cat " + secret, false).output == "the answer");
  for (const std::string& way : {secret, "/proc/self/root" + secret, ".." + secret,
                                 fmt::format("/proc/{}/root{}", getpid(), secret)})
    CHECK_FALSE(contains(shell("cat " + way, true).output, "the answer"));
  CHECK(contains(shell("echo x > /usr/x", true).output, "Read-only file system"));
  CHECK(contains(shell("echo x > /x", true).output, "Read-only file system"));
  CHECK(shell("echo 42 > made && cat made && ls", true).output == "42\nmade\n");
}

TEST_CASE("it starts no program from the folder that it can write") {
  const Box box;
  CHECK(exit_code(box.shell("cp /bin/true mine && chmod +x mine && ./mine")) == 126);
}

TEST_CASE("there is no network, of any kind") {
  const Box box;
  // socket(AF_UNIX), socket(AF_INET), socket(AF_INET6), socket(AF_VSOCK), by number
  for (const int family : {1, 2, 10, 40}) {
    const CommandResult result = box.perl(fmt::format(
        "my $r = syscall({}, {}, 1, 0); print $r < 0 ? \"$!\" : 'open';", SYS_socket, family));
    CHECK(result.output == "Operation not permitted");
  }
}

TEST_CASE("system calls for other processes, namespaces and the kernel are refused") {
  const Box box;
  for (const long number :
       {long(SYS_ptrace), long(SYS_unshare), long(SYS_setns), long(SYS_mount), long(SYS_bpf),
        long(SYS_keyctl), long(SYS_io_uring_setup), long(SYS_userfaultfd),
        long(SYS_perf_event_open), long(SYS_setsid), long(SYS_setpgid), long(SYS_shmget)}) {
    const CommandResult result =
        box.perl(fmt::format("print syscall({}, 0, 0, 0) < 0 ? \"$!\" : 'done';", number));
    CHECK_MESSAGE(result.output == "Operation not permitted", number);
  }
}

TEST_CASE("a new user namespace is refused, however it is asked for") {
  const Box box;
  const CommandResult result = box.perl(fmt::format(
      "print syscall({}, 0x10000000 | 17, 0, 0, 0, 0) < 0 ? \"$!\" : 'done';", SYS_clone));
  CHECK(result.output == "Operation not permitted");
}

TEST_CASE("its processes and its network are its own, where the machine allows that") {
  if (!why_no_namespaces().empty()) {
    MESSAGE("no namespaces here: ", why_no_namespaces());
    return;
  }
  const Box box;
  const std::string script = "print getppid()";
  CHECK(box.perl(script).output == "0");
  Command shared{{"/usr/bin/perl", "-e", script}, box.folder.path()};
  shared.walls.namespaces = false;
  CHECK(run_command(shared, box.limits).output != "0");
}

TEST_CASE("a program has another number than the one before it") {
  if (syscall(SYS_clone3, nullptr, 0) < 0 && errno == ENOSYS) {
    MESSAGE("nothing to test: numbers of processes cannot be chosen on this machine");
    return;
  }
  const Box box;
  const std::string first = box.perl("print $$").output;
  CHECK(first != "");
  CHECK(box.perl("print $$").output != first);
}

TEST_CASE("the process that keeps the namespaces has none of our memory, and ends when told") {
  if (!why_no_namespaces().empty()) {
    MESSAGE("no namespaces here: ", why_no_namespaces());
    return;
  }
  const std::string secret(64 << 20, 's');  // a fork has it, until it gives it back
  LaunchPlan plan;
  plan.argv = {"/bin/sleep", "60"};
  Launched launched = launch(plan);
  const auto pages = [&] {
    std::ifstream file(fmt::format("/proc/{}/statm", launched.namespace_init));
    long size = 0;
    file >> size;
    return size;
  };
  for (int tries = 0; pages() > 16 && tries < 1000; ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(pages() > 0);
  CHECK(pages() <= 16);
  launched.life.reset();
  int status = 0;
  CHECK(waitpid(launched.pid, &status, 0) == launched.pid);
  CHECK(WTERMSIG(status) == SIGKILL);  // with the namespace
  CHECK(waitpid(launched.namespace_init, nullptr, 0) == launched.namespace_init);
}

TEST_CASE("a program that was started may be looked into at once, by an ordinary user too") {
  CHECK(code_of_child([] {
          if (geteuid() == 0 && setresuid(65'534, 65'534, 65'534) != 0) return 1;
          LaunchPlan plan;
          plan.argv = {"/bin/sleep", "60"};
          for (int turn = 0; turn < 300; ++turn) {
            Launched launched = launch(plan);
            const Fd file(open(fmt::format("/proc/{}/clear_refs", launched.pid).c_str(), O_WRONLY));
            if (!file) return 2;
            kill(launched.pid, SIGKILL);
            waitpid(launched.pid, nullptr, 0);
            end_namespace_init(launched);
          }
          return 0;
        }) == 0);
}

TEST_CASE("a program starts where the kernel lets nobody choose a number, or has no clone3") {
  CHECK(code_of_child([] {
          FilterBuilder without(SCMP_ACT_ALLOW);
          without.add(SCMP_ACT_ERRNO(ENOSYS), "clone3");
          const SeccompFilter filter = without.program();
          const sock_fprog program{static_cast<unsigned short>(filter.size()),
                                   const_cast<sock_filter*>(filter.data())};
          prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
          if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) return 1;
          LaunchPlan plan;
          plan.argv = {"/bin/sh", "-c", "exit 7"};
          Launched launched = launch(plan);
          int status = 0;
          if (waitpid(launched.pid, &status, 0) != launched.pid) return 2;
          end_namespace_init(launched);
          return WIFEXITED(status) && WEXITSTATUS(status) == 7 ? 0 : 3;
        }) == 0);
}

TEST_CASE("a signal that ends it is seen as what it is, in namespaces too") {
  const Box box;
  for (const char* name : {"ABRT", "SEGV", "TERM"}) {
    const CommandResult result = box.shell(fmt::format("kill -{} $$", name));
    CHECK(describe(result.outcome) == fmt::format("SIG{}", name));
  }
}

TEST_CASE("it has no privileges and cannot gain any") {
  const Box box;
  const CommandResult result = box.perl(fmt::format(
      "print \"$< $> \", syscall({}, 39, 0, 0, 0, 0);", SYS_prctl));  // PR_GET_NO_NEW_PRIVS
  const std::string user = geteuid() == 0 ? "60" : fmt::format("{} ", geteuid());
  CHECK(result.output.starts_with(user));
  CHECK(result.output.ends_with(" 1"));
}

TEST_CASE("it sees a cleaned environment") {
  setenv("GAUNTLET_SECRET", "seed", 1);
  const Box box;
  const CommandResult result = box.run({"/usr/bin/env"});
  unsetenv("GAUNTLET_SECRET");
  CHECK(result.output ==
        "LC_ALL=C\nPATH=/usr/local/bin:/usr/bin:/bin\nTMPDIR=.\nHOME=.\n"
        "TZ=UTC0\nSOURCE_DATE_EPOCH=315532800\n");
}

TEST_CASE("it has the three standard streams and no other descriptor") {
  const Fd leak(open("/etc/passwd", O_RDONLY));  // without O_CLOEXEC, as a careless library would
  const Fd high(dup2(leak.get(), 700));
  const Box box;
  const CommandResult result = box.perl(fmt::format(
      "for my $fd (0 .. 1023) {{ print \"$fd \" if syscall({}, $fd, 1, 0) >= 0 }}", SYS_fcntl));
  CHECK(result.output == "0 1 2 ");
}

TEST_CASE("what cannot be started is our fault and says why") {
  const Box box;
  const CommandResult result = box.run({"/usr/bin/no-such-program"});
  REQUIRE(std::holds_alternative<Unstarted>(result.outcome));
  CHECK(contains(describe(result.outcome),
                 "/usr/bin/no-such-program: starting the program: No such file"));
}
