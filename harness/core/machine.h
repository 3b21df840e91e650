// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace gauntlet {

/// What a measurement was made on, as the kernel names it.
struct Machine {
  std::string cpu;              // "AMD EPYC", "unknown CPU" when /proc/cpuinfo does not say
  int cores = 1;                // that this process may use
  std::string kernel;           // "Linux 6.1.0 x86_64"
  std::size_t cache_bytes = 0;  // of the last-level cache; 0 when the kernel does not say
};

Machine this_machine();

/// Now, in UTC: "2026-04-03T09:12:44Z".
std::string utc_now();

}  // namespace gauntlet
