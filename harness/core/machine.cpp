// SPDX-License-Identifier: Apache-2.0
#include "harness/core/machine.h"

#include <algorithm>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fstream>
#include <sched.h>
#include <sys/utsname.h>
#include <thread>

namespace gauntlet {
namespace {

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.rfind("model name", 0) == 0)
      if (const auto colon = line.find(": "); colon != std::string::npos)
        return line.substr(colon + 2);
  return "unknown CPU";
}

int usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());
}

// As sysfs has it; glibc's sysconf multiplies the cache by the threads that share it.
std::size_t last_level_cache() {
  std::size_t largest = 0;
  for (int index = 0; index < 5; ++index) {
    std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/size", index));
    std::size_t kib = 0;
    if (file >> kib) largest = std::max(largest, kib << 10);  // "32768K"
  }
  return largest;
}

}  // namespace

Machine this_machine() {
  static const std::string cpu = cpu_name();  // read once: races ask between laps
  static const std::size_t cache = last_level_cache();
  utsname names{};
  uname(&names);
  return {cpu, usable_cores(), fmt::format("{} {} {}", names.sysname, names.release, names.machine),
          cache};
}

std::string utc_now() {
  return fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace gauntlet
