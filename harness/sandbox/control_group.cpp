// SPDX-License-Identifier: Apache-2.0
#include "harness/sandbox/control_group.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/core/text.h"
#include "harness/sandbox/trial.h"

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

/// Our own group in a hierarchy, as a folder; empty when there is no such hierarchy. "" is the one
/// of version 2.
fs::path own_group(const std::string& controller) {
  std::ifstream groups("/proc/self/cgroup");  // "4:memory:/a/b", "0::/a/b"
  const std::string mark = ":" + controller + ":/";
  const fs::path all = "/sys/fs/cgroup";
  for (std::string line; std::getline(groups, line);)
    if (const std::size_t at = line.find(mark); at != std::string::npos) {
      const fs::path beside = all / (controller.empty() ? "unified" : controller);
      return (fs::exists(beside) || !controller.empty() ? beside : all) /
             line.substr(at + mark.size());
    }
  return {};
}

constexpr const char* kNamePrefix = "gauntlet-";

/// Never that of a group which a killed program left behind: numbers of processes come again.
std::string new_name() {
  static std::atomic<unsigned> count{0};
  return fmt::format("{}{}-{}-{}", kNamePrefix, getpid(),
                     std::chrono::steady_clock::now().time_since_epoch().count(), count++);
}

/// Removes what programs that were killed have left beside a new group: groups of ours that nobody
/// is in and that are a minute older. Whoever makes one is in it at once.
void remove_left_behind(const fs::path& group) {
  struct stat ours {};
  struct stat theirs {};
  if (stat(group.c_str(), &ours) != 0) return;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(group.parent_path(), failed))
    if (entry.path().filename().string().starts_with(kNamePrefix) &&
        stat(entry.path().c_str(), &theirs) == 0 && theirs.st_mtime + 60 < ours.st_mtime)
      rmdir(entry.path().c_str());  // which fails while somebody is in it
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

std::unique_ptr<ControlGroup> ControlGroup::make(const Limits& limits) {
  if (!why_no_control_group().empty()) return nullptr;
  std::unique_ptr<ControlGroup> group = made();
  if (!group)
    throw Broken(OwnFault::sandbox, "ControlGroup: one could be made before, and now none");
  const std::string memory = std::to_string(limits.memory_bytes);
  if (!group->set("memory.max", memory)) group->set("memory.limit_in_bytes", memory);
  group->set("memory.swap.max", "0");
  group->set("pids.max", std::to_string(limits.processes));
  return group;
}

std::unique_ptr<ControlGroup> ControlGroup::made() {
  const std::string name = new_name();
  std::unique_ptr<ControlGroup> group(new ControlGroup);
  for (const char* controller : {"", "memory", "pids"})
    if (const fs::path own = own_group(controller); !own.empty() && group->add_part(own / name))
      remove_left_behind(own / name);
  return group->parts_.empty() ? nullptr : std::move(group);
}

ControlGroup::~ControlGroup() {
  for (const Part& part : parts_) rmdir(part.folder.c_str());
}

bool ControlGroup::add_part(const fs::path& folder) {
  if (mkdir(folder.c_str(), 0755) != 0) return false;
  Fd door(open((folder / "cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  if (!door) {
    rmdir(folder.c_str());
    return false;
  }
  parts_.push_back({folder, std::move(door)});
  return true;
}

bool ControlGroup::set(const char* file, const std::string& value) const {
  bool done = false;
  for (const Part& part : parts_) {
    const Fd out(open((part.folder / file).c_str(), O_WRONLY | O_CLOEXEC));
    done |= out && write(out.get(), value.data(), value.size()) == std::ssize(value);
  }
  return done;
}

void ControlGroup::kill_all() const {
  set("cgroup.kill", "1");
}

bool ControlGroup::ran_out_of_memory() const {
  return std::any_of(parts_.begin(), parts_.end(), [](const Part& part) {
    for (const char* file : {"memory.events", "memory.oom_control"}) {
      const std::string text = text_of(part.folder / file);
      const std::size_t at = text.find("oom_kill ");
      if (at != std::string::npos && text.compare(at, 10, "oom_kill 0") != 0) return true;
    }
    return false;
  });
}

const char* ControlGroup::join() const {
  for (const Part& part : parts_)
    if (write(part.door.get(), "0", 1) != 1) return "joining a control group";
  return nullptr;
}

std::string ControlGroup::powers() const {
  const auto has = [&](const char* file) {
    return std::any_of(parts_.begin(), parts_.end(),
                       [&](const Part& part) { return fs::exists(part.folder / file); });
  };
  std::vector<std::string> powers;
  if (has("memory.max") || has("memory.limit_in_bytes")) powers.emplace_back("memory");
  if (has("pids.max")) powers.emplace_back("processes");
  if (has("cgroup.kill")) powers.emplace_back("kill");
  return powers.empty() ? "nothing" : sentence_list(powers);
}

const std::string& why_no_control_group() {
  static OncePerUser once;
  return once.ask([]() -> std::string {
    const std::unique_ptr<ControlGroup> group = ControlGroup::made();
    if (!group) return "no control group can be made below ours";
    return failure_in_child([&] { return group->join(); });
  });
}

}  // namespace gauntlet
