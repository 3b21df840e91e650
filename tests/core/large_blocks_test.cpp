// SPDX-License-Identifier: Apache-2.0
#include "harness/core/large_blocks.h"

#include <csignal>
#include <cstddef>
#include <doctest/doctest.h>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace gauntlet {
namespace {

/// Whether a child that is forked now can read the middle of the block.
bool child_reads(const std::vector<std::byte>& block) {
  const volatile std::byte* middle = block.data() + block.size() / 2;
  const pid_t pid = fork();
  if (pid == 0) {
    std::signal(SIGSEGV, SIG_DFL);
    [[maybe_unused]] const std::byte read = *middle;
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status);
}

TEST_CASE("a child does not get large blocks where it is to start a program only") {
  const std::vector<std::byte> large(std::size_t{3} << 20, std::byte{1});
  const std::vector<std::byte> small(std::size_t{1} << 19, std::byte{1});
  CHECK(child_reads(large));
  {
    const ForkWithoutLargeBlocks guard;
    CHECK_FALSE(child_reads(large));
    CHECK(child_reads(small));
  }
  CHECK(child_reads(large));
}

TEST_CASE("memory that was a large block and is one no more goes into every child") {
  for (int turn = 0; turn < 20; ++turn) {
    std::optional large = std::vector<std::byte>(std::size_t{2} << 20, std::byte{1});
    large.reset();
    std::vector<std::vector<std::byte>> small(8);
    for (auto& block : small) block.assign(std::size_t{1} << 18, std::byte{1});
    const ForkWithoutLargeBlocks guard;
    for (const auto& block : small) CHECK(child_reads(block));
  }
}

}  // namespace
}  // namespace gauntlet
