// SPDX-License-Identifier: Apache-2.0
#include "harness/core/large_blocks.h"

#include <csignal>
#include <doctest/doctest.h>
#include <memory>
#include <stop_token>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace gauntlet {
namespace {

constexpr std::size_t kBytes = 3 * kLargeBlock;

/// Whether a child that is forked now can read the middle of the block.
bool child_reads(const char* block) {
  const volatile char* middle = block + kBytes / 2;
  const pid_t pid = fork();
  if (pid == 0) {
    std::signal(SIGSEGV, SIG_DFL);
    [[maybe_unused]] const char read = *middle;
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status);
}

TEST_CASE("a child does not get large blocks where it is to start a program only") {
  const auto known = std::make_unique<char[]>(kBytes);
  const auto other = std::make_unique<char[]>(kBytes);
  large_block_made(known.get(), kBytes);
  CHECK(child_reads(known.get()));
  {
    const ForkWithoutLargeBlocks guard;
    CHECK_FALSE(child_reads(known.get()));
    CHECK(child_reads(other.get()));
  }
  CHECK(child_reads(known.get()));
  large_block_ends(known.get());
  const ForkWithoutLargeBlocks guard;
  CHECK(child_reads(known.get()));
}

TEST_CASE("a child gets large blocks whatever another thread did when it was forked") {
  const auto block = std::make_unique<char[]>(kBytes);
  const std::jthread other([](const std::stop_token& stop) {
    const auto its = std::make_unique<char[]>(kLargeBlock);
    while (!stop.stop_requested()) {
      large_block_made(its.get(), kLargeBlock);
      large_block_ends(its.get());
    }
  });
  int ended = 0;
  constexpr int kChildren = 200;
  for (int child = 0; child < kChildren; ++child) {
    const pid_t pid = fork();
    if (pid == 0) {
      alarm(20);  // the signal ends who waits
      large_block_made(block.get(), kBytes);
      _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    ended += WIFEXITED(status) ? 1 : 0;
    if (!WIFEXITED(status)) break;
  }
  CHECK(ended == kChildren);
}

}  // namespace
}  // namespace gauntlet
