// SPDX-License-Identifier: Apache-2.0
#include "harness/core/large_blocks.h"

#include <cstdint>
#include <map>
#include <new>
#include <pthread.h>
#include <sys/mman.h>

namespace gauntlet {
namespace {

struct LargeBlocks {
  std::mutex mutex;
  std::map<void*, std::size_t> bytes;
};

thread_local bool guards = false;  // a ForkWithoutLargeBlocks of this thread lives

LargeBlocks& large_blocks();

void before_fork() {
  if (!guards) large_blocks().mutex.lock();
}

void after_fork() {
  if (!guards) large_blocks().mutex.unlock();
}

/// Of a thread that it does not have, a child would wait for the mutex for ever.
void in_child() {
  new (&large_blocks().mutex) std::mutex;
}

// Never destroyed: memory is freed until the very end of the process.
LargeBlocks& large_blocks() {
  static auto& all = *[] {
    pthread_atfork(before_fork, after_fork, in_child);
    return new LargeBlocks;
  }();
  return all;
}

/// Of the pages that lie wholly within it. Without success nothing is lost but time.
void advise(void* block, std::size_t bytes, int advice) {
  constexpr std::uintptr_t kPage = 4096;
  const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(block) + kPage - 1) & -kPage;
  const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(block) + bytes) & -kPage;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, advice);
}

void advise_all(int advice) {
  for (const auto& [block, bytes] : large_blocks().bytes) advise(block, bytes, advice);
}

}  // namespace

void large_block_made(void* block, std::size_t bytes) {
  advise(block, bytes, MADV_HUGEPAGE);
  LargeBlocks& all = large_blocks();
  const std::lock_guard lock(all.mutex);
  all.bytes[block] = bytes;
}

void large_block_ends(void* block) {
  LargeBlocks& all = large_blocks();
  const std::lock_guard lock(all.mutex);
  all.bytes.erase(block);
}

ForkWithoutLargeBlocks::ForkWithoutLargeBlocks() : nobody_else_(large_blocks().mutex) {
  guards = true;
  advise_all(MADV_DONTFORK);
}

ForkWithoutLargeBlocks::~ForkWithoutLargeBlocks() {
  advise_all(MADV_DOFORK);
  guards = false;
}

}  // namespace gauntlet
