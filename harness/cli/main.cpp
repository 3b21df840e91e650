// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <malloc.h>
#include <new>
#include <unistd.h>

#include "harness/cli/app.h"
#include "harness/cli/installation.h"
#include "harness/core/large_blocks.h"
#include "harness/sandbox/harden.h"

// Those of the library, but that large blocks are known: see large_blocks.h.
void* operator new(std::size_t bytes) {
  void* block = std::malloc(bytes > 0 ? bytes : 1);
  if (block == nullptr) throw std::bad_alloc();
  if (bytes >= gauntlet::kLargeBlock) gauntlet::large_block_made(block, bytes);
  return block;
}

void operator delete(void* block) noexcept {
  if (malloc_usable_size(block) >= gauntlet::kLargeBlock) gauntlet::large_block_ends(block);
  std::free(block);
}

void operator delete(void* block, std::size_t /*bytes*/) noexcept {
  ::operator delete(block);
}

int main(int argc, char** argv) {
  gauntlet::harden_this_process();
  const auto environment = [](const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return std::string(value ? value : "");
  };
  const auto found =
      gauntlet::find_installation(std::filesystem::read_symlink("/proc/self/exe").parent_path(),
                                  GAUNTLET_DATA_FROM_BIN, GAUNTLET_PROGRAMS_FROM_BIN);
  const gauntlet::Program program{
      found.data,      found.programs, GAUNTLET_VERSION,           environment,
      std::cout,       std::cerr,      isatty(STDOUT_FILENO) != 0, isatty(STDERR_FILENO) != 0,
      found.installed, GAUNTLET_BUILD, GAUNTLET_RELEASED};
  return gauntlet::run_program(program, {argv + 1, argv + argc});
}
