// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/process_tasks.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <sys/stat.h>

#include "harness/sandbox/fd.h"
#include "harness/worker/held_up.h"

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

/// Voluntary switches; a thread that yields stays ready, and is none.
std::optional<std::uint64_t> sleeps_in(const std::string& status) {
  constexpr std::string_view kName = "\nvoluntary_ctxt_switches:";
  const std::size_t at = status.find(kName);
  if (at == std::string::npos) return std::nullopt;
  return std::strtoull(status.c_str() + at + kName.size(), nullptr, 10);
}

}  // namespace

ProcessTasks::ProcessTasks(pid_t pid)
    : folder_(opendir(fmt::format("/proc/{}/task", pid).c_str())) {}

std::size_t ProcessTasks::count() const {
  struct stat facts {};
  if (!folder_ || fstat(dirfd(folder_.get()), &facts) != 0 || facts.st_nlink < 2) return 0;
  return facts.st_nlink - 2;  // "." and ".."
}

std::vector<pid_t> ProcessTasks::ids(std::size_t at_most) const {
  std::vector<pid_t> ids;
  if (!folder_) return ids;
  rewinddir(folder_.get());
  while (const dirent* entry = readdir(folder_.get())) {
    if (ids.size() == at_most) break;
    if (const pid_t id = std::atoi(entry->d_name); id > 0) ids.push_back(id);
  }
  return ids;
}

/// Of a file that the kernel writes about a thread; empty when that has ended.
std::string ProcessTasks::text(pid_t id, const char* file) const {
  const Fd opened(
      openat(dirfd(folder_.get()), fmt::format("{}/{}", id, file).c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> text{};
  const ssize_t size = opened ? read(opened.get(), text.data(), text.size()) : 0;
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(0, size))};
}

std::vector<Task> ProcessTasks::list() const {
  std::vector<Task> tasks;
  for (const pid_t id : ids(~std::size_t{0}))
    if (const std::string stat = text(id, "stat"); !stat.empty())
      tasks.push_back(parsed(id, stat.c_str()));
  return tasks;
}

// In this order: whoever goes to sleep between the first and the second is not ready, or will have
// slept once more by the next look.
std::vector<ThreadLook> ProcessTasks::looks(std::size_t at_most) const {
  std::vector<ThreadLook> looks;
  for (const pid_t id : ids(at_most)) {
    const std::optional<std::uint64_t> sleeps = sleeps_in(text(id, "status"));
    const std::string stat = text(id, "stat");
    const std::string run_times = text(id, "schedstat");
    if (!sleeps || stat.empty() || run_times.empty()) continue;
    looks.push_back(
        {id, *sleeps, parsed(id, stat.c_str()).state == 'R', parsed_run_times(run_times).ran});
  }
  return looks;
}

}  // namespace gauntlet
