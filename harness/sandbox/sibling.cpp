// SPDX-License-Identifier: Apache-2.0
#include "harness/sandbox/sibling.h"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <linux/sched.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gauntlet {
namespace {

/// The system call, and the child's first steps, which cannot be C++: on another stack there is
/// nothing to return to.
long start(clone_args& args, const SiblingBody& body) {
#if defined(__x86_64__)
  long made = SYS_clone3;
  asm volatile(R"(
      syscall
      test %%rax, %%rax
      jnz 1f
      xor %%ebp, %%ebp
      mov %[argument], %%rdi
      call *%[run]
      ud2
   1:
  )"
               : "+a"(made)
               : "D"(&args), "S"(sizeof args), [run] "r"(body.run), [argument] "r"(body.argument)
               : "rcx", "r11", "memory");
  return made;
#else
  args.flags &= ~std::uint64_t{CLONE_VM | CLONE_VFORK};
  args.stack = args.stack_size = 0;
  const long made = syscall(SYS_clone3, &args, sizeof args);
  if (made == 0) body.run(body.argument);
  return made < 0 ? -errno : made;
#endif
}

}  // namespace

pid_t start_sibling(const SiblingBody& body, std::span<std::byte> stack, Caller caller,
                    pid_t number) {
  constexpr std::uintptr_t kAlignment = 16;
  const auto low = (reinterpret_cast<std::uintptr_t>(stack.data()) + kAlignment - 1) & -kAlignment;
  const auto high = reinterpret_cast<std::uintptr_t>(stack.data() + stack.size()) & -kAlignment;
  clone_args args{};
  args.flags = CLONE_PARENT | CLONE_VM | (caller == Caller::waits ? CLONE_VFORK : 0);
  args.stack = low;
  args.stack_size = high - low;
  if (number > 0) {
    args.set_tid = reinterpret_cast<std::uintptr_t>(&number);
    args.set_tid_size = 1;
    const long made = start(args, body);
    if (made >= 0) return static_cast<pid_t>(made);
    args.set_tid = args.set_tid_size = 0;
  }
  const long made = start(args, body);
  if (made >= 0) return static_cast<pid_t>(made);
  // A kernel before 5.3, or a container's filter, has no clone3.
  const int flags = static_cast<int>(args.flags) | SIGCHLD;
  auto* kept = reinterpret_cast<SiblingBody*>(high) - 1;  // ours is gone when the caller goes on
  *kept = body;
  const int pid = clone(
      [](void* given) {
        const auto* what = static_cast<const SiblingBody*>(given);
        what->run(what->argument);
        return 127;
      },
      kept, flags, kept);
  return pid < 0 ? -errno : pid;
}

}  // namespace gauntlet
