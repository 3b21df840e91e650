#include "harness/worker/spread_threads.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>

#include "harness/core/files.h"

namespace gauntlet {
namespace {

cpu_set_t only(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  return set;
}

std::vector<int> own_cores() {
  cpu_set_t ours;
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof ours, &ours) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &ours)) cores.push_back(core);
  return cores;
}

/// Where the main thread was last: field 39 of /proc/PID/stat, of which the second is a name that
/// the process may choose, in brackets.
int last_core(const std::string& stat) {
  std::size_t at = stat.rfind(')');
  for (int field = 2; at != std::string::npos && field < 39; ++field) at = stat.find(' ', at + 1);
  return at == std::string::npos ? -1 : std::atoi(stat.c_str() + at);
}

std::vector<pid_t> threads_besides_main(pid_t pid) {
  std::vector<pid_t> threads;
  std::error_code gone;
  for (const auto& entry :
       std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid), gone))
    if (const pid_t thread = std::atoi(entry.path().filename().c_str()); thread != pid)
      threads.push_back(thread);
  return threads;
}

}  // namespace

SpreadThreads::SpreadThreads(pid_t stopped) {
  const std::vector<pid_t> others = threads_besides_main(stopped);
  if (others.empty()) return;
  const std::vector<int> cores = own_cores();
  const int mains = last_core(read_file(fmt::format("/proc/{}/stat", stopped)));
  auto core = std::find(cores.begin(), cores.end(), mains);
  if (core == cores.end()) return;
  for (const pid_t thread : others) {
    if (++core == cores.end()) core = cores.begin();
    move(thread, *core);
  }
  move(0, mains);
}

SpreadThreads::~SpreadThreads() {
  for (const Moved& moved : moved_)
    sched_setaffinity(moved.thread, sizeof moved.cores, &moved.cores);
}

void SpreadThreads::move(pid_t thread, int core) {
  Moved moved{thread, {}};
  const cpu_set_t there = only(core);
  if (sched_getaffinity(thread, sizeof moved.cores, &moved.cores) == 0 &&
      CPU_ISSET(core, &moved.cores) && sched_setaffinity(thread, sizeof there, &there) == 0)
    moved_.push_back(moved);
}

}  // namespace gauntlet
