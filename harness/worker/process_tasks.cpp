// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/process_tasks.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/sandbox/fd.h"
#include "harness/worker/held_up.h"

namespace gauntlet {
namespace {

// Of files; those of further threads are opened each time. Three processes race at most, and a
// program has 1,024 descriptors where nobody asks for more.
constexpr std::size_t kMostOpen = 256;

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

/// Of a file that the kernel writes about a thread, from its start; empty when that has ended.
std::string text_of(const Fd& file) {
  std::array<char, 4096> text{};
  const ssize_t size = file ? pread(file.get(), text.data(), text.size(), 0) : 0;
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(0, size))};
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

Fd ProcessTasks::open_of(pid_t id, const char* file) const {
  return Fd(
      openat(dirfd(folder_.get()), fmt::format("{}/{}", id, file).c_str(), O_RDONLY | O_CLOEXEC));
}

std::string ProcessTasks::text(pid_t id, const char* file) const {
  return text_of(open_of(id, file));
}

/// A thread's file stays open while there is the thread: to find it takes longer than to read it.
/// What is read of one that has ended is nothing, whoever has its number by then.
std::vector<Task> ProcessTasks::list() {
  std::vector<Task> tasks;
  std::erase_if(opened_, [&](const Opened& one) {
    const std::string stat = text_of(one.stat);
    if (!stat.empty()) tasks.push_back(parsed(one.id, stat.c_str()));
    return stat.empty();
  });
  if (tasks.empty() || tasks.size() != count()) add_new(tasks);
  return tasks;
}

void ProcessTasks::add_new(std::vector<Task>& tasks) {
  std::set<pid_t> known;
  for (const Task& task : tasks) known.insert(task.id);
  for (const pid_t id : ids(~std::size_t{0})) {
    if (known.contains(id)) continue;
    Fd stat = open_of(id, "stat");
    const std::string text = text_of(stat);
    if (text.empty()) continue;
    tasks.push_back(parsed(id, text.c_str()));
    if (opened_.size() < kMostOpen) opened_.push_back({id, std::move(stat)});
  }
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
