// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "harness/sandbox/filter_blanks.h"
#include "harness/sandbox/filter_builder.h"

namespace gauntlet {
namespace {

void allow_everyday_calls(FilterBuilder& filter) {
  // Reading, the three standard streams, and descriptors inside the process.
  filter.add_all(SCMP_ACT_ALLOW,
                 "read readv pread64 write writev pwrite64 close lseek fstat newfstatat stat lstat "
                 "statx statfs fstatfs access faccessat faccessat2 readlink readlinkat getdents64 "
                 "getcwd dup dup2 dup3 eventfd2 poll ppoll select pselect6");
  filter.add_all(SCMP_ACT_ALLOW, "brk mincore membarrier");
  filter.add_all(
      SCMP_ACT_ALLOW,
      "futex set_robust_list get_robust_list rseq set_tid_address gettid getpid getppid "
      "sched_yield sched_getaffinity sched_getparam sched_getscheduler "
      "sched_get_priority_max sched_get_priority_min getcpu getpriority exit exit_group");
  // Time and signals. No timer_create: such a timer can send SIGCONT, which would thaw a worker
  // while its outputs are being read. setitimer and alarm only know SIGALRM and its kin.
  filter.add_all(SCMP_ACT_ALLOW,
                 "clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time times "
                 "setitimer getitimer alarm pause rt_sigaction rt_sigprocmask rt_sigreturn "
                 "rt_sigpending rt_sigtimedwait rt_sigsuspend sigaltstack restart_syscall");
  // Questions about the machine and oneself. arch_prctl also asks for AMX tiles.
  filter.add_all(SCMP_ACT_ALLOW,
                 "uname sysinfo getrandom getrlimit getrusage getuid geteuid getgid getegid "
                 "getgroups arch_prctl");
}

/// Conditions on a range of addresses (arguments 0 and 1): that it does not reach what begins at a
/// blank. Masks wherever they do: libseccomp takes minutes when one rule has several comparisons of
/// size.
constexpr scmp_arg_cmp begins_below(std::uint32_t blank) {
  return arg_below(0, std::uint64_t{blank} << 32);
}
constexpr scmp_arg_cmp kShort = arg_masked(1, ~(kKeptGuard - 1), 0);

template <class... Conditions>
void allow_elsewhere(FilterBuilder& filter, std::string_view name, Conditions... also) {
  filter.add(SCMP_ACT_ALLOW, name, {begins_below(kKeptInFilter), kShort, also...});
}

/// Code of libraries that were written to would be private memory, taken for the system's. A stack
/// may become executable: the loader does that for some libraries.
void allow_protection(FilterBuilder& filter) {
  filter.add(SCMP_ACT_ALLOW, "mprotect", {arg_masked(2, PROT_WRITE, 0)});
  filter.add(SCMP_ACT_ALLOW, "mprotect", {arg_masked(2, PROT_GROWSDOWN, PROT_GROWSDOWN)});
  filter.add(SCMP_ACT_ALLOW, "mprotect", {begins_below(kReadOnlyInFilter), kShort});
}

/// What counts as ours has to be there when we look: a page that could be given back meanwhile, or
/// make room for another one, would be memory that nobody counts.
void allow_memory(FilterBuilder& filter) {
  allow_elsewhere(filter, "munmap");
  // Shared memory would escape the memory limit, which counts private pages; huge pages that were
  // set aside escape every count, and what grows downwards the limit on data.
  const auto its_own = arg_masked(3, MAP_TYPE | MAP_HUGETLB | MAP_GROWSDOWN, MAP_PRIVATE);
  allow_elsewhere(filter, "mmap", its_own);
  constexpr std::uint64_t kPair = ~std::uint64_t{1};
  allow_elsewhere(filter, "mremap", arg_masked(3, kPair, 0));  // MREMAP_MAYMOVE or nothing
  // Pairs of advice that differ in the lowest bit, and the first eight. Not MADV_REMOVE, which
  // frees pages of shared memory. Not MADV_MERGEABLE, by which processes can feel each other's
  // pages. Not MADV_COLD and MADV_PAGEOUT: what is in memory stays as we have made it.
  allow_elsewhere(filter, "madvise", arg_masked(2, ~std::uint64_t{7}, 0));
  allow_elsewhere(filter, "madvise", arg_is(2, MADV_FREE));
  for (const int advice :
       {MADV_DONTFORK, MADV_HUGEPAGE, MADV_DONTDUMP, MADV_WIPEONFORK, MADV_DONTNEED_LOCKED})
    allow_elsewhere(filter, "madvise", arg_masked(2, kPair, static_cast<std::uint64_t>(advice)));
  filter.add(SCMP_ACT_ALLOW, "madvise", {arg_masked(2, kPair, MADV_POPULATE_READ)});
}

void allow_within_bounds(FilterBuilder& filter) {
  constexpr std::uint64_t kWriting = O_ACCMODE | O_CREAT | O_TRUNC;
  filter.add(SCMP_ACT_ALLOW, "open", {arg_masked(1, kWriting, O_RDONLY)});
  filter.add(SCMP_ACT_ALLOW, "openat", {arg_masked(2, kWriting, O_RDONLY)});
  for (const std::uint64_t command : {F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC})
    filter.add(SCMP_ACT_ALLOW, "fcntl", {arg_is(1, command)});
  for (const std::uint64_t option : {PR_SET_NAME, PR_GET_NAME})
    filter.add(SCMP_ACT_ALLOW, "prctl", {arg_is(0, option)});
  // "0" is the caller. By number, a stranger of the same user could be meant: the grader.
  filter.add(SCMP_ACT_ALLOW, "prlimit64", {arg_is(0, 0)});
  // Done, it is told, and nothing happens: threads of the kernel move a thread to other cores, in
  // time that is nobody's. Programs that pin their threads go on; we place them ourselves.
  filter.add(SCMP_ACT_ERRNO(0), "sched_setaffinity");
}

/// Signals to oneself: all but SIGCONT and SIGSTOP (18, 19), which belong to the freeze, and the
/// real-time ones that libc does not use itself.
void allow_own_signals(FilterBuilder& filter) {
  filter.add(SCMP_ACT_ALLOW, "kill", {arg_is(0, kOwnPidInFilter), arg_at_most(1, 17)});
  filter.add(SCMP_ACT_ALLOW, "tgkill", {arg_is(0, kOwnPidInFilter), arg_at_most(2, 17)});
  for (const std::uint64_t number : {32, 33, 34})
    filter.add(SCMP_ACT_ALLOW, "tgkill", {arg_is(0, kOwnPidInFilter), arg_is(2, number)});
  for (const char* name : {"kill", "tgkill"})
    filter.add(SCMP_ACT_KILL_PROCESS, name, {arg_is_not(0, kOwnPidInFilter)});
}

void kill_for_attacks(FilterBuilder& filter) {
  filter.add_all(SCMP_ACT_KILL_PROCESS,
                 "execve execveat fork vfork ptrace process_vm_readv process_vm_writev "
                 "process_madvise kcmp pidfd_open pidfd_getfd pidfd_send_signal tkill "
                 "rt_sigqueueinfo rt_tgsigqueueinfo");
  filter.add_all(SCMP_ACT_KILL_PROCESS,
                 "socket socketpair connect bind listen accept accept4 sendto sendmsg recvfrom "
                 "recvmsg shmget shmat msgget semget mq_open memfd_secret");
  filter.add_all(
      SCMP_ACT_KILL_PROCESS,
      "mount umount2 move_mount open_tree fsopen fsmount mount_setattr pivot_root chroot "
      "unshare setns setuid setgid setresuid setresgid setgroups capset seccomp");
  filter.add_all(SCMP_ACT_KILL_PROCESS,
                 "bpf io_uring_setup io_uring_enter io_uring_register userfaultfd keyctl add_key "
                 "request_key perf_event_open open_by_handle_at name_to_handle_at fanotify_init "
                 "kexec_load kexec_file_load init_module finit_module delete_module reboot swapon "
                 "swapoff iopl ioperm modify_ldt");
}

}  // namespace

SeccompFilter build_worker_filter() {
  FilterBuilder filter(SCMP_ACT_ERRNO(EPERM));
  allow_everyday_calls(filter);
  allow_memory(filter);
  allow_protection(filter);
  allow_within_bounds(filter);
  allow_own_signals(filter);
  kill_for_attacks(filter);
  // A thread in vfork cannot be stopped, so that the freeze would wait for it.
  filter.add(SCMP_ACT_ALLOW, "clone", {arg_masked(0, CLONE_THREAD | CLONE_VFORK, CLONE_THREAD)});
  filter.add(SCMP_ACT_KILL_PROCESS, "clone", {arg_masked(0, CLONE_THREAD, 0)});
  filter.add(SCMP_ACT_ERRNO(ENOSYS), "clone3");  // flags in memory; libc falls back to clone
  return filter.program();
}

}  // namespace gauntlet
