// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "harness/simt/diagnose/races.h"
#include "harness/simt/execute/constant_slots.h"
#include "harness/simt/execute/launch.h"
#include "harness/simt/execute/thread_block.h"
#include "harness/simt/memory/pattern.h"

namespace gauntlet::simt {

/// Draws orders of blocks and warps: SplitMix64, the same numbers on every machine.
class ScheduleRng {
 public:
  explicit ScheduleRng(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(next() % bound); }
  void shuffle(std::vector<std::uint32_t>& items);

 private:
  std::uint64_t state_;
};

/// One launch under way: what all its blocks share.
class Grid {
 public:
  Grid(const Program& program, const Kernel& kernel, const LaunchShape& shape,
       std::span<const std::byte> parameters, DeviceMemory& memory, const LaunchOptions& options);

  LaunchResult run();

  const Program& program;
  const Kernel& kernel;
  const LaunchShape& shape;
  DeviceMemory& memory;
  const LaunchOptions& options;

  const ConstantSlots constants;

  std::vector<std::byte> parameters;
  std::uint32_t threads = 0;  // of a block
  std::uint32_t warps = 0;    // of a block
  std::uint32_t blocks = 0;
  std::uint64_t budget = 0;  // instructions of warps that are left
  Counters counters;
  Diagnostics diagnostics;
  GlobalRaces races;
  ScheduleRng rng;
  std::string output;

  struct BlockCount {
    std::uint64_t runs = 0, lanes = 0;
  };
  std::vector<BlockCount> counts;                  // of each block of code
  std::vector<std::unique_ptr<Pattern>> patterns;  // of each instruction that touches memory

  Pattern& pattern_of(const Instr& instr) {
    std::unique_ptr<Pattern>& known = patterns[instr.index];
    if (!known) known = std::make_unique<Pattern>();
    return *known;
  }

  bool is_stopped() const { return stopped_; }
  void stop(Status status, std::uint32_t instruction, const std::string& why);

  /// Notes a fault of some lanes of a warp; tells where and what the first time.
  template <class Detail>
  void fault(Warp& warp, const Instr& instr, Fault kind, std::uint32_t lane, std::uint64_t lanes,
             const Detail& detail) {
    if (diagnostics.add(kind, instr.index, lanes))
      diagnostics.describe(kind, instr.index, warp.block().index(),
                           warp.block().thread_index(warp.thread_number(lane)), detail());
  }

 private:
  void run_blocks();
  void sum_up(LaunchResult& result);

  bool stopped_ = false;
  Status status_ = Status::completed;
  std::string why_;
};

/// Why a launch cannot begin; empty when it can.
std::string refusal(const Kernel& kernel, const LaunchShape& shape, std::size_t parameter_bytes);

}  // namespace gauntlet::simt
