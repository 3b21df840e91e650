// SPDX-License-Identifier: Apache-2.0
#include "harness/sandbox/wall_probes.h"

#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "harness/sandbox/control_group.h"
#include "harness/sandbox/fd.h"
#include "harness/sandbox/file_view.h"
#include "harness/sandbox/filter_blanks.h"
#include "harness/sandbox/landlock.h"
#include "harness/sandbox/namespaces.h"
#include "harness/sandbox/runtime_files.h"
#include "harness/sandbox/seccomp_filter.h"
#include "harness/sandbox/spare_user.h"

namespace gauntlet {
namespace {

/// Runs `act` in a child and gives its wait status; the child ends with what `act` returned. It may
/// only make system calls: it is a fork of a program that may have threads.
template <class Act>
int status_of_child(Act act) {
  const pid_t pid = fork();
  if (pid < 0) broken_call("fork");
  if (pid == 0) _exit(act());
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

bool ended_with(int status, int code) {
  return WIFEXITED(status) && WEXITSTATUS(status) == code;
}

}  // namespace

ProbeResult probe_landlock() {
  const int version = landlock_version();
  if (version == 0) return {false, "this kernel has no Landlock (5.13 or newer, and lsm=landlock)"};
  const Fd rules = landlock_ruleset(worker_rules());
  const int status = status_of_child([&] {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || landlock_restrict(rules.get()) != 0)
      return 1;
    const bool shut = open("/etc/passwd", O_RDONLY) < 0 && errno == EACCES;
    return shut && open("/dev/null", O_RDONLY) >= 0 ? 0 : 2;
  });
  if (ended_with(status, 1)) return {false, "the kernel refused the rules"};
  if (!ended_with(status, 0)) return {false, "/etc/passwd stayed open to a child"};
  return {true, fmt::format("version {}: /etc/passwd was shut to a child", version)};
}

ProbeResult probe_seccomp() {
  SeccompFilter filter = worker_filter();
  const int status = status_of_child([&] {
    fill_blanks(filter.data(), filter.size(), static_cast<std::uint32_t>(getpid()), {});
    const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || syscall(SYS_seccomp, 1, 0, &program) != 0)
      return 1;
    return socket(AF_INET, SOCK_STREAM, 0) < 0 ? 2 : 3;  // must not return at all
  });
  if (ended_with(status, 1)) return {false, "the kernel refused the filter"};
  if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
    return {false, "a child that called socket() was not killed"};
  return {true, "a child that called socket() was killed"};
}

ProbeResult probe_rlimits() {
  const int status = status_of_child([] {
    const rlimit little{std::size_t{16} << 20, std::size_t{16} << 20};
    if (setrlimit(RLIMIT_DATA, &little) != 0) return 1;
    void* much = mmap(nullptr, std::size_t{256} << 20, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return much == MAP_FAILED ? 0 : 2;
  });
  if (!ended_with(status, 0)) return {false, "a child got 256 MiB under a limit of 16 MiB"};
  return {true, "a child was refused 256 MiB under a limit of 16 MiB"};
}

ProbeResult probe_uid() {
  const std::optional<SpareUser> user = SpareUser::take_if_root();
  if (!user) return {false, "not root: submissions run as the user who started this"};
  const uid_t id = user->id();
  const int status = status_of_child([&] {
    if (syscall(SYS_setgroups, 0, nullptr) != 0 || syscall(SYS_setresgid, id, id, id) != 0 ||
        syscall(SYS_setresuid, id, id, id) != 0)
      return 1;
    return kill(getppid(), 0) != 0 && errno == EPERM ? 0 : 2;
  });
  if (!ended_with(status, 0))
    return {false, fmt::format("root, but a child cannot become user {}", id)};
  return {true, fmt::format("a child became user {} and could not signal us", id)};
}

ProbeResult probe_sealed_memory() {
  constexpr std::size_t kPage = 4096;
  const Fd file(memfd_create("gauntlet-probe", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file || ftruncate(file.get(), kPage) != 0) return {false, "memfd_create is refused"};
  const Fd theirs(open(fmt::format("/proc/self/fd/{}", file.get()).c_str(), O_RDONLY | O_CLOEXEC));
  void* read_only = mmap(nullptr, kPage, PROT_READ, MAP_SHARED, theirs.get(), 0);
  if (read_only == MAP_FAILED)
    return {false, "a memory file cannot be opened for reading through /proc"};
  const bool stays_so = mprotect(read_only, kPage, PROT_READ | PROT_WRITE) != 0;
  munmap(read_only, kPage);
  if (!stays_so) return {false, "who may read a memory file could write it"};
  void* writable = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  const bool seen = fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE) != 0;
  if (writable != MAP_FAILED) munmap(writable, kPage);
  if (!seen || fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE) != 0)
    return {false, "a seal did not tell whether somebody could still write"};
  return {true, "a file open for reading was not writable, and could be sealed"};
}

ProbeResult probe_freeze() {
  const pid_t pid = fork();
  if (pid < 0) broken_call("fork");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    while (true) poll(nullptr, 0, -1);
  }
  siginfo_t info{};
  const bool frozen = kill(pid, SIGSTOP) == 0 &&
                      waitid(P_PID, static_cast<id_t>(pid), &info, WSTOPPED | WEXITED) == 0 &&
                      info.si_code == CLD_STOPPED;
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  return {frozen, frozen ? "a child stopped and said so" : "a child could not be stopped"};
}

ProbeResult probe_namespaces() {
  const std::string& why_not = why_no_namespaces();
  return {why_not.empty(),
          why_not.empty() ? "a child had processes, network and IPC of its own" : why_not};
}

ProbeResult probe_mounts() {
  const std::string& why_not =
      why_no_namespaces().empty() ? why_no_file_view() : why_no_namespaces();
  return {why_not.empty(),
          why_not.empty() ? "a child had a root of its own, without /etc/passwd" : why_not};
}

ProbeResult probe_cgroups() {
  const auto group = ControlGroup::make(Limits());
  if (!group) return {false, why_no_control_group()};
  return {true, "a child joined a group of ours; powers: " + group->powers()};
}

}  // namespace gauntlet
