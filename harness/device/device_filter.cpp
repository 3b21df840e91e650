// SPDX-License-Identifier: Apache-2.0
#include "harness/device/device_filter.h"

#include <sched.h>
#include <sys/mman.h>

#include "harness/sandbox/filter_builder.h"

namespace gauntlet {
namespace {

SeccompFilter build_device_filter() {
  FilterBuilder filter(SCMP_ACT_KILL_PROCESS);
  filter.add_all(SCMP_ACT_ALLOW,
                 "read write writev close futex exit exit_group brk munmap mremap madvise "
                 "set_robust_list rseq gettid getpid sched_yield sched_getaffinity clock_gettime "
                 "getrandom rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack restart_syscall "
                 "prlimit64 newfstatat fstat");
  const auto never_code = arg_masked(2, PROT_EXEC, 0);
  filter.add(SCMP_ACT_ALLOW, "mmap",
             {never_code, arg_masked(3, MAP_TYPE | MAP_ANONYMOUS, MAP_PRIVATE | MAP_ANONYMOUS)});
  filter.add(SCMP_ACT_ALLOW, "mprotect", {never_code});
  filter.add(SCMP_ACT_ALLOW, "tgkill", {arg_at_most(2, 17)});  // abort(), of which we hear
  filter.add(SCMP_ACT_ALLOW, "clone", {arg_masked(0, CLONE_THREAD, CLONE_THREAD)});
  filter.add(SCMP_ACT_ERRNO(ENOSYS), "clone3");  // flags in memory; libc falls back to clone
  // libgcc and libstdc++ look for files of the system when they meet an exception or a locale.
  filter.add_all(SCMP_ACT_ERRNO(ENOENT), "open openat readlink readlinkat access faccessat");
  return filter.program();
}

}  // namespace

const SeccompFilter& device_filter() {
  static const SeccompFilter kFilter = build_device_filter();
  return kFilter;
}

}  // namespace gauntlet
