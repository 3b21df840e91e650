// SPDX-License-Identifier: Apache-2.0
#include "harness/sandbox/namespaces.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/sandbox/file_view.h"
#include "harness/sandbox/trial.h"

namespace gauntlet {
namespace {

bool write_once(const char* file, const char* text, std::size_t bytes) {
  const int fd = open(file, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = write(fd, text, bytes) == static_cast<ssize_t>(bytes);
  return (close(fd) == 0) && written;
}

/// "1000 1000 1": the number outside is the number inside. Not snprintf, which may take locks.
std::size_t id_map(unsigned id, char* text) {
  std::array<char, 12> digits;
  std::size_t count = 0;
  do digits[count++] = static_cast<char>('0' + id % 10);
  while ((id /= 10) != 0);
  std::size_t used = 0;
  for (int twice = 0; twice < 2; ++twice) {
    for (std::size_t i = count; i-- > 0;) text[used++] = digits[i];
    text[used++] = ' ';
  }
  text[used++] = '1';
  return used;
}

const char* map_own_ids(unsigned user, unsigned group) {
  std::array<char, 40> text;
  if (!write_once("/proc/self/setgroups", "deny", 4)) return "user namespace: setgroups";
  if (!write_once("/proc/self/uid_map", text.data(), id_map(user, text.data())))
    return "user namespace: uid_map";
  if (!write_once("/proc/self/gid_map", text.data(), id_map(group, text.data())))
    return "user namespace: gid_map";
  return nullptr;
}

/// Gives back all memory of the process, and ends when descriptor 0 does. Without it a copy of our
/// memory would lie beside a stranger for as long as it runs; and each page that we write meanwhile
/// would be copied, with an interrupt for every other processor. What stays is this code, which
/// lies below all stacks and libraries, and where the kernel writes for each thread (rseq).
[[noreturn]] void wait_without_memory() {
#if defined(__x86_64__)
  constexpr std::uintptr_t kPage = 4096, kTop = 0x7fff'ffff'f000;
  const auto thread = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer()) / kPage * kPage;
  asm volatile(R"(
      lea 1f(%%rip), %%rsi
      and $-4096, %%rsi
      xor %%edi, %%edi
      mov %[munmap], %%eax
      syscall                     # munmap(0, up to the page of 1)
   1: lea 2f+4095(%%rip), %%rdi
      and $-4096, %%rdi
      mov %[low], %%rsi
      sub %%rdi, %%rsi
      mov %[munmap], %%eax
      syscall                     # munmap(from the page after 2, up to low)
      mov %[high], %%rdi
      mov %[top], %%rsi
      sub %%rdi, %%rsi
      mov %[munmap], %%eax
      syscall                     # munmap(from high, up to top)
      xor %%edi, %%edi
      xor %%esi, %%esi
      mov $1, %%edx
      xor %%eax, %%eax
      syscall                     # read(0, nowhere, 1)
      xor %%edi, %%edi
      mov %[exit], %%eax
      syscall
   2:
  )"
               :
               : [munmap] "i"(SYS_munmap), [exit] "i"(SYS_exit_group), [top] "r"(kTop),
                 [low] "r"(thread - 4 * kPage), [high] "r"(thread + 5 * kPage)
               : "rax", "rcx", "rdx", "rdi", "rsi", "r11", "memory");
  __builtin_unreachable();
#else
  char none = 0;
  while (read(0, &none, 1) < 0 && errno == EINTR) {
  }
  _exit(0);
#endif
}

}  // namespace

const char* enter_namespaces(const FileView* files) {
  const auto user = static_cast<unsigned>(syscall(SYS_geteuid));
  const auto group = static_cast<unsigned>(syscall(SYS_getegid));
  const int apart = CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |
                    (files == nullptr ? 0 : CLONE_NEWNS);
  if (user == 0) {
    if (unshare(apart) != 0) return "namespaces";
    return files == nullptr ? nullptr : files->enter();
  }
  // The files that hold the map belong to root as long as nobody may look into the process.
  prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  const char* failed =
      unshare(CLONE_NEWUSER | apart) == 0 ? map_own_ids(user, group) : "user namespace";
  if (failed == nullptr && files != nullptr) failed = files->enter();
  const int error = errno;
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  errno = error;
  return failed;
}

void be_namespace_init(int life, int others) {
  // Our handlers go with our memory; those of the namespace cannot reach its first process.
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  // Not a parent-death signal: the parent may be dead before we ask for one, and what its number
  // was cannot be seen from in here.
  const int wait_for = fcntl(others, F_DUPFD, 3);
  dup2(life, 0);
  dup2(wait_for, 1);
  if (syscall(SYS_close_range, 2, ~0U, 0) != 0)
    for (int fd = 2; fd < 1 << 16; ++fd) close(fd);
  char none = 0;
  while (read(1, &none, 1) < 0 && errno == EINTR) {
  }
  close(1);
  wait_without_memory();
}

const std::string& why_no_namespaces() {
  static OncePerUser once;
  return once.ask([] {
    return failure_in_child([]() -> const char* {
      if (const char* failed = enter_namespaces(nullptr)) return failed;
      const auto first = static_cast<pid_t>(syscall(SYS_fork));
      if (first == 0) _exit(syscall(SYS_getpid) == 1 ? 0 : 1);
      int status = 1;
      if (first > 0) waitpid(first, &status, 0);
      return status == 0 ? nullptr : "process namespace: its first process";
    });
  });
}

}  // namespace gauntlet
