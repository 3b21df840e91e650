// SPDX-License-Identifier: Apache-2.0
#include "harness/sandbox/kernel_limits.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <sys/stat.h>

#include "harness/sandbox/fd.h"

namespace gauntlet {
namespace {

KernelLimit limit(int resource, rlim_t wanted) {
  rlimit now{};
  if (getrlimit(resource, &now) != 0) broken_call("getrlimit");
  const rlim_t value = std::min(wanted, now.rlim_max);  // nobody but root may raise the hard limit
  return {resource, {value, value}};
}

// Processes of this user that /proc does not show: hardened ones, and those of other containers.
constexpr rlim_t kUnseen = 512;

// Sandboxes that this user may start later and that then have all that they may, while this one
// still gets its own: a hostile submission to every challenge, and the workers of its references.
constexpr rlim_t kLaterSandboxes = 16;

/// Threads of all processes of this user, as far as they can be seen.
rlim_t running_threads() {
  rlim_t threads = 0;
  const uid_t user = geteuid();
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    struct stat owner {};
    const std::string folder = entry.path().filename().string();
    if (folder.find_first_not_of("0123456789") != std::string::npos) continue;
    if (stat(entry.path().c_str(), &owner) != 0 || owner.st_uid != user) continue;
    if (stat((entry.path() / "task").c_str(), &owner) == 0)  // its links: 2 plus the threads
      threads += owner.st_nlink > 2 ? owner.st_nlink - 2 : 1;
  }
  return threads;
}

}  // namespace

std::vector<KernelLimit> kernel_limits(const Limits& limits, bool own_user) {
  auto processes = static_cast<rlim_t>(limits.processes);
  if (!own_user) processes += running_threads() + kUnseen + kLaterSandboxes * processes;
  std::vector<KernelLimit> all{
      limit(RLIMIT_CORE, 0),
      limit(RLIMIT_DATA, limits.memory_bytes),
      limit(RLIMIT_STACK, rlim_t{8} << 20),  // also the default size of a thread's stack
      limit(RLIMIT_FSIZE, limits.file_bytes),
      limit(RLIMIT_NOFILE, static_cast<rlim_t>(limits.open_files)),
      limit(RLIMIT_MEMLOCK, limits.locked_bytes),
      limit(RLIMIT_MSGQUEUE, 0),
      limit(RLIMIT_NPROC, processes)};
  if (limits.cpu_seconds > 0) {
    KernelLimit cpu = limit(RLIMIT_CPU, static_cast<rlim_t>(limits.cpu_seconds) + 1);
    cpu.value.rlim_cur = cpu.value.rlim_max - 1;  // SIGXCPU, which names the limit, before SIGKILL
    all.push_back(cpu);
  }
  return all;
}

}  // namespace gauntlet
