// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

namespace gauntlet {

/// While it lives, a fork() of this process gives the child none of the memory of 1 MiB or more
/// that operator new has handed out: a child that only starts a program has no use for the arrays
/// of a grader, and to share hundreds of MiB with it page by page, and then to fault at every page
/// that is written, took most of the time of a start. Nobody gets or frees such memory meanwhile.
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
