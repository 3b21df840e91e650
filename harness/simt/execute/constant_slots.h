// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/simt/execute/launch.h"

namespace gauntlet::simt {

/// What instructions find in slots that none of them writes: numbers, addresses of variables,
/// special registers. Most of it is the same in all warps of a launch and is written as one piece;
/// what tells a warp's threads apart is written once for a warp, and the block's index for a block.
class ConstantSlots {
 public:
  ConstantSlots(const Kernel& kernel, const LaunchShape& shape, const DeviceMemory& memory);

  /// For a warp of any block, the number `warp` in it, whose registers begin at `slots`.
  void begin_warp(std::byte* slots, std::uint32_t warp) const;
  /// For each warp of a block that begins, behind begin_warp.
  void begin_block(std::byte* slots, const Index3& block) const;

 private:
  std::uint64_t of_launch(const Constant& constant, std::uint32_t lane) const;
  std::uint64_t of_thread(Special which, std::uint32_t thread) const;

  const LaunchShape& shape_;
  const DeviceMemory& memory_;
  std::uint32_t static_shared_;
  std::vector<std::byte> common_;     // all constant slots, which are the first ones of a frame
  std::vector<Constant> of_threads_;  // differ between threads of a block
  std::vector<Constant> of_blocks_;   // differ between blocks
};

/// The index of a thread in its block.
Index3 thread_index(const LaunchShape& shape, std::uint32_t thread);

}  // namespace gauntlet::simt
