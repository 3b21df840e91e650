#pragma once

#include <cstddef>
#include <sys/types.h>

#include "harness/sandbox/fd.h"

namespace gauntlet {

/// A worker's memory as the kernel counts it, in bytes.
struct Resident {
  std::size_t private_bytes = 0;  // heap, stacks, static data
  std::size_t file_bytes = 0;     // code of libraries
  std::size_t shared_bytes = 0;   // the arenas, and the solution's code
  std::size_t peak_bytes = 0;     // largest sum of the three since reset_peak()
};

class ProcessMemory {
 public:
  explicit ProcessMemory(pid_t pid);

  /// Cheap: private_bytes alone, the other two as one sum in shared_bytes.
  Resident glance() const;

  /// All of it. Throws Broken when the process is gone.
  Resident look() const;

  void reset_peak() const;

 private:
  pid_t pid_;
  Fd statm_;
};

}  // namespace gauntlet
