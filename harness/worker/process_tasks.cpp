// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/process_tasks.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "harness/sandbox/fd.h"

namespace gauntlet {
namespace {

/// The fields of /proc/PID/task/TID/stat that we need: "TID (name) state ...". The name is chosen
/// by the thread and may hold blanks and brackets; no bracket comes after it.
Task parsed(pid_t id, const char* stat) {
  constexpr int kState = 3, kCore = 39;
  Task task;
  task.id = id;
  const char* at = std::strrchr(stat, ')');
  for (int field = kState; at != nullptr && field <= kCore; ++field) {
    at = std::strchr(at + 1, ' ');
    if (at == nullptr) break;
    if (field == kState) task.state = at[1];
    if (field == kCore) task.core = std::atoi(at + 1);
  }
  return task;
}

}  // namespace

ProcessTasks::ProcessTasks(pid_t pid)
    : folder_(opendir(fmt::format("/proc/{}/task", pid).c_str())) {}

std::size_t ProcessTasks::count() const {
  struct stat facts {};
  if (!folder_ || fstat(dirfd(folder_.get()), &facts) != 0 || facts.st_nlink < 2) return 0;
  return facts.st_nlink - 2;  // "." and ".."
}

std::vector<Task> ProcessTasks::list() const {
  std::vector<Task> tasks;
  if (!folder_) return tasks;
  rewinddir(folder_.get());
  while (const dirent* entry = readdir(folder_.get())) {
    const pid_t id = std::atoi(entry->d_name);
    if (id <= 0) continue;
    const Fd file(
        openat(dirfd(folder_.get()), fmt::format("{}/stat", id).c_str(), O_RDONLY | O_CLOEXEC));
    std::array<char, 1024> stat{};
    if (file && read(file.get(), stat.data(), stat.size() - 1) > 0)
      tasks.push_back(parsed(id, stat.data()));
  }
  return tasks;
}

}  // namespace gauntlet
