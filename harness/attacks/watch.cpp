// SPDX-License-Identifier: Apache-2.0
#include "harness/attacks/watch.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sched.h>
#include <thread>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

/// The number behind "VmLck:" in a file of /proc; 0 when the process has ended.
double number_in(const std::string& file, const std::string& label) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(label)) return std::strtod(line.c_str() + label.size(), nullptr);
  return 0;
}

std::vector<pid_t> all_pids() {
  std::vector<pid_t> pids;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") == std::string::npos)
      pids.push_back(std::atoi(name.c_str()));
  }
  return pids;
}

std::string link_of(const fs::path& path) {
  std::error_code ended;
  return fs::read_symlink(path, ended).string();
}

}  // namespace

Watch::Watch(std::string mark)
    : mark_(std::move(mark)), shared_before_(number_in("/proc/meminfo", "Shmem:")) {
  const std::vector<pid_t> pids = all_pids();
  strangers_.insert(pids.begin(), pids.end());
}

std::vector<pid_t> Watch::marked() const {
  std::vector<pid_t> found;
  for (const pid_t pid : all_pids()) {
    if (strangers_.contains(pid)) continue;
    std::ifstream file(fmt::format("/proc/{}/comm", pid));
    std::string comm;
    std::getline(file, comm);
    if (comm == mark_) found.push_back(pid);
  }
  return found;
}

void Watch::look(pid_t grading_process, Evidence& evidence) {
  const std::vector<pid_t> pids = marked();
  evidence.processes = std::max(evidence.processes, static_cast<int>(pids.size()) - 1);
  double resident = 0;
  for (const pid_t pid : pids) {
    // A bomb has hundreds of processes, and each look must be short.
    if (pids.size() < 8) look_at(pid, evidence);
    resident += number_in(fmt::format("/proc/{}/status", pid), "VmRSS:") / 1024;
  }
  evidence.resident_mib = std::max(evidence.resident_mib, resident);
  evidence.shared_mib =
      std::max(evidence.shared_mib, (number_in("/proc/meminfo", "Shmem:") - shared_before_) / 1024);
  if (number_in(fmt::format("/proc/{}/status", grading_process), "TracerPid:") > 0)
    evidence.traced = true;
}

void Watch::look_at(pid_t pid, Evidence& evidence) {
  const std::string folder = fmt::format("/proc/{}", pid);
  evidence.threads =
      std::max(evidence.threads, static_cast<int>(number_in(folder + "/status", "Threads:")));
  evidence.tables_mib =
      std::max(evidence.tables_mib, number_in(folder + "/status", "VmPTE:") / 1024);
  evidence.locked_kib = std::max(evidence.locked_kib, number_in(folder + "/status", "VmLck:"));
  if (sched_getscheduler(pid) > 0) evidence.other_scheduling = true;
  cpu_set_t ours, its;
  if (sched_getaffinity(0, sizeof ours, &ours) == 0 &&
      sched_getaffinity(pid, sizeof its, &its) == 0 && !CPU_EQUAL(&ours, &its))
    evidence.other_cores = true;
  const std::string space = link_of(folder + "/ns/user");
  if (first_namespace_.empty()) first_namespace_ = space;
  if (!space.empty() && space != first_namespace_) evidence.own_namespace = true;
  std::error_code ended;
  for (const auto& entry : fs::directory_iterator(folder + "/fd", ended))
    evidence.objects.insert(link_of(entry.path()));
}

void Watch::end_survivors(Evidence& evidence) const {
  for (int look = 0; look < 20; ++look) {  // the dying need a moment
    if (marked().empty()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  for (const pid_t pid : marked()) {
    ++evidence.survivors;
    kill(pid, SIGKILL);
  }
}

}  // namespace gauntlet
