// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <sys/types.h>

#include "harness/sandbox/fd.h"

namespace gauntlet {

/// A worker's memory as the kernel counts it, in bytes.
struct Resident {
  std::size_t private_bytes = 0;  // heap, stacks, static data
  std::size_t file_bytes = 0;     // code of the system's libraries
  std::size_t shared_bytes = 0;   // the arenas, and the solution's code
  std::size_t peak_bytes = 0;     // largest sum of the three since reset_peak()
  std::size_t table_bytes = 0;    // page tables, which are in no sum
};

/// Reads through descriptors that are opened before the process is anybody's but ours: whatever it
/// does later, no failure to open them can be its doing.
class ProcessMemory {
 public:
  explicit ProcessMemory(pid_t pid);

  /// Cheap: private_bytes alone, the other two as one sum in shared_bytes. Zeros when there is no
  /// memory any more: the process is gone, or its main thread has ended while others go on.
  Resident glance() const;

  /// All of it; nothing when there is no memory any more.
  std::optional<Resident> look() const;

  void reset_peak() const;

 private:
  Fd statm_;
  Fd status_;
  Fd clear_refs_;
};

}  // namespace gauntlet
