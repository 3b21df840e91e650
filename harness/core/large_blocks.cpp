// SPDX-License-Identifier: Apache-2.0
#include "harness/core/large_blocks.h"

#include <cstdint>
#include <map>
#include <new>
#include <pthread.h>
#include <sys/mman.h>

namespace gauntlet {
namespace {

constinit std::mutex mutex;        // of what follows
thread_local bool guards = false;  // a ForkWithoutLargeBlocks of this thread lives

// Never destroyed: memory is freed until the very end of the process.
std::map<void*, std::size_t>& large_blocks() {
  static auto& all = *new std::map<void*, std::size_t>;
  return all;
}

void before_fork() {
  if (!guards) mutex.lock();
}

void after_fork() {
  if (!guards) mutex.unlock();
}

/// Of a thread that it does not have, a child would wait for the mutex for ever.
void in_child() {
  new (&mutex) std::mutex;
}

[[maybe_unused]] const int registered = pthread_atfork(before_fork, after_fork, in_child);

/// Of the pages that lie wholly within it. Without success nothing is lost but time.
void advise(void* block, std::size_t bytes, int advice) {
  constexpr std::uintptr_t kPage = 4096;
  const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(block) + kPage - 1) & -kPage;
  const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(block) + bytes) & -kPage;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, advice);
}

void advise_all(int advice) {
  for (const auto& [block, bytes] : large_blocks()) advise(block, bytes, advice);
}

}  // namespace

void large_block_made(void* block, std::size_t bytes) {
  advise(block, bytes, MADV_HUGEPAGE);
  const std::lock_guard lock(mutex);
  large_blocks()[block] = bytes;
}

void large_block_ends(void* block) {
  const std::lock_guard lock(mutex);
  large_blocks().erase(block);
}

ForkWithoutLargeBlocks::ForkWithoutLargeBlocks() : nobody_else_(mutex) {
  guards = true;
  advise_all(MADV_DONTFORK);
}

ForkWithoutLargeBlocks::~ForkWithoutLargeBlocks() {
  advise_all(MADV_DOFORK);
  guards = false;
}

}  // namespace gauntlet
