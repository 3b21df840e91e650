// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <mutex>

namespace gauntlet {

inline constexpr std::size_t kLargeBlock = std::size_t{1} << 20;  // bytes

/// Told of a block of kLargeBlock bytes or more that a program has allocated, and before it is
/// freed; main.cpp has operator new and delete tell it. Such blocks lie in huge pages where the
/// system has them, so that one page fault does for up to 512.
void large_block_made(void* block, std::size_t bytes);
void large_block_ends(void* block);

/// While it lives, a fork() of this process gives the child none of these blocks: a child that only
/// starts a program has no use for the arrays of a grader, and to share hundreds of MiB with it
/// page by page took 10 ms of a start, before the faults at every page that is written then. Nobody
/// gets or frees such a block meanwhile.
class ForkWithoutLargeBlocks {
 public:
  ForkWithoutLargeBlocks();
  ~ForkWithoutLargeBlocks();
  ForkWithoutLargeBlocks(const ForkWithoutLargeBlocks&) = delete;
  ForkWithoutLargeBlocks& operator=(const ForkWithoutLargeBlocks&) = delete;

 private:
  std::unique_lock<std::mutex> nobody_else_;
};

}  // namespace gauntlet
