// SPDX-License-Identifier: Apache-2.0
#include <sched.h>
#include <sys/ioctl.h>

#include "harness/sandbox/filter_builder.h"

namespace gauntlet {

SeccompFilter build_compile_filter() {
  constexpr std::uint32_t kRefuse = SCMP_ACT_ERRNO(EPERM);
  FilterBuilder filter(SCMP_ACT_ALLOW);
  filter.add_all(kRefuse, "socket socketpair");
  // Other processes and their memory.
  filter.add_all(kRefuse,
                 "ptrace process_vm_readv process_vm_writev process_madvise kcmp pidfd_getfd "
                 "migrate_pages move_pages");
  filter.add(kRefuse, "prlimit64", {arg_is_not(0, 0)});
  // Leaving the process group would outlive the kill of the group.
  filter.add_all(kRefuse, "setsid setpgid");
  // What would stay behind for the next run.
  filter.add_all(kRefuse, "shmget msgget semget mq_open");
  // Namespaces and mounts.
  filter.add_all(kRefuse,
                 "mount umount2 move_mount open_tree fsopen fsmount fspick mount_setattr "
                 "pivot_root chroot unshare setns");
  for (const std::uint64_t flag : {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                                   CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET})
    filter.add(kRefuse, "clone", {arg_masked(0, flag, flag)});
  // Its flags lie in memory, where a filter cannot look; libc falls back to clone.
  filter.add(SCMP_ACT_ERRNO(ENOSYS), "clone3");
  // The kernel's larger attack surfaces, and the machine's settings.
  filter.add_all(kRefuse,
                 "bpf io_uring_setup io_uring_enter io_uring_register userfaultfd keyctl add_key "
                 "request_key perf_event_open open_by_handle_at name_to_handle_at memfd_secret "
                 "fanotify_init kexec_load kexec_file_load init_module finit_module "
                 "delete_module lookup_dcookie modify_ldt iopl ioperm");
  filter.add_all(kRefuse,
                 "reboot swapon swapoff acct quotactl syslog settimeofday clock_settime adjtimex "
                 "clock_adjtime sethostname setdomainname vhangup");
  // Typing into the operator's terminal.
  filter.add(kRefuse, "ioctl", {arg_masked(1, 0xffffffff, TIOCSTI)});
  filter.add(kRefuse, "ioctl", {arg_masked(1, 0xffffffff, TIOCLINUX)});
  return filter.program();
}

}  // namespace gauntlet
