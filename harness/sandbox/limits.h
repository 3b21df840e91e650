// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace gauntlet {

/// What one sandboxed command may use. Memory is private memory of each process (RLIMIT_DATA):
/// RLIMIT_AS would count address space that is only reserved, and break CUDA and the sanitizers.
/// Where there are control groups, the processes of a command together have no more than one.
struct Limits {
  double wall_seconds = 60;
  int cpu_seconds = 60;  // of each process; 0: no such limit
  std::size_t memory_bytes = std::size_t{3} << 30;
  std::size_t file_bytes = std::size_t{256} << 20;  // the largest file it may write
  int processes = 64;                               // processes and threads together
  int open_files = 256;
  std::size_t locked_bytes = 0;
  std::size_t output_kept = std::size_t{64} << 10;
  std::size_t output_flood = std::size_t{16} << 20;  // printing more than this ends it
};

/// For the audit of the walls: as much as the kernel gives.
inline Limits no_limits() {
  Limits limits;
  limits.cpu_seconds = 0;
  limits.memory_bytes = limits.file_bytes = limits.locked_bytes = ~std::size_t{0};
  limits.processes = limits.open_files = 1 << 20;
  return limits;
}

}  // namespace gauntlet
