// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/simt/count/counters.h"
#include "harness/simt/decode/program.h"
#include "harness/simt/diagnose/diagnostics.h"
#include "harness/simt/memory/device_memory.h"

namespace gauntlet::simt {

struct LaunchShape {
  Index3 grid{1, 1, 1};              // blocks
  Index3 block{1, 1, 1};             // threads
  std::uint32_t dynamic_shared = 0;  // bytes
};

struct LaunchOptions {
  /// Instructions of warps that may be executed before the kernel counts as hung; a warp that
  /// begins costs 10.
  std::uint64_t budget = 2'000'000'000;
  /// Blocks and warps run in the order of their numbers, or in one that the seed draws. A kernel
  /// without races computes the same with each, but for sums of atomics in floating point.
  std::optional<std::uint64_t> schedule_seed;
  /// Blocks that may be under way at once. A further one begins when those that have begun do
  /// nothing but wait, as threads do that look for a flag of a later block.
  std::uint32_t resident_blocks = 32;
  bool check_undefined = true;  // reads of global and shared memory that nobody has written
  bool check_races = true;      // in shared memory within a block, in global memory within the grid
  bool count_sectors = true;    // and wavefronts; otherwise they are 0, which takes less time
  std::size_t most_output = 64u << 10;   // bytes of printf that are kept
  std::size_t race_memory = 512u << 20;  // for what is known of global memory; beyond it, less is
};

enum class Status : std::uint8_t {
  completed,
  faulted,    // a GPU would have ended the kernel: out of bounds, misaligned, freed, read-only.
              // Here the access is left out and the kernel goes on, so that all faults are seen
  trapped,    // trap, or an assertion: the kernel ended there
  timed_out,  // over its budget, or all threads wait for a barrier that never completes
  refused,    // never began: too many threads, too much shared memory, wrong size of parameters
};
const char* name_of(Status status);

struct LaunchResult {
  Status status = Status::completed;
  std::string why;  // of all but completed: one sentence with the source line
  Counters counters;
  std::vector<Diagnostic> diagnostics;
  std::string output;          // of printf, in the order of execution, cut to most_output
  bool races_complete = true;  // false where race_memory did not do
  std::uint64_t budget_used = 0;
};

/// Executes a kernel of a program that `memory` has loaded. Parameters are laid out as the kernel
/// declares them. Regions' counts begin at zero. Throws nothing that a kernel could cause.
LaunchResult launch(const Program& program, const Kernel& kernel, const LaunchShape& shape,
                    std::span<const std::byte> parameters, DeviceMemory& memory,
                    const LaunchOptions& options = {});

}  // namespace gauntlet::simt
