// SPDX-License-Identifier: Apache-2.0
#include "harness/core/large_blocks.h"

#include <cstdint>
#include <cstdlib>
#include <malloc.h>
#include <map>
#include <new>
#include <sys/mman.h>

namespace gauntlet {
namespace {

constexpr std::size_t kLarge = std::size_t{1} << 20;  // bytes; a few of the smaller ones are copied

// Never destroyed: memory is freed until the very end of the process.
struct LargeBlocks {
  std::mutex mutex;
  std::map<void*, std::size_t> bytes;
};

LargeBlocks& large_blocks() {
  static auto& all = *new LargeBlocks;
  return all;
}

/// Of the pages that lie wholly within it. Without success nothing is lost but time.
void advise(void* block, std::size_t bytes, int advice) {
  constexpr std::uintptr_t kPage = 4096;
  const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(block) + kPage - 1) & -kPage;
  const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(block) + bytes) & -kPage;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, advice);
}

void keep(void* block, std::size_t bytes) {
  advise(block, bytes, MADV_HUGEPAGE);  // 500 page faults fewer for each MiB
  LargeBlocks& all = large_blocks();
  const std::lock_guard lock(all.mutex);
  all.bytes[block] = bytes;
}

void forget(void* block) {
  LargeBlocks& all = large_blocks();
  const std::lock_guard lock(all.mutex);
  all.bytes.erase(block);
}

void advise_all(int advice) {
  for (const auto& [block, bytes] : large_blocks().bytes) advise(block, bytes, advice);
}

}  // namespace

ForkWithoutLargeBlocks::ForkWithoutLargeBlocks() : nobody_else_(large_blocks().mutex) {
  advise_all(MADV_DONTFORK);
}

ForkWithoutLargeBlocks::~ForkWithoutLargeBlocks() {
  advise_all(MADV_DOFORK);
}

}  // namespace gauntlet

void* operator new(std::size_t bytes) {
  void* block = std::malloc(bytes > 0 ? bytes : 1);
  if (block == nullptr) throw std::bad_alloc();
  if (bytes >= gauntlet::kLarge) gauntlet::keep(block, bytes);
  return block;
}

void operator delete(void* block) noexcept {
  if (malloc_usable_size(block) >= gauntlet::kLarge) gauntlet::forget(block);
  std::free(block);
}

void operator delete(void* block, std::size_t /*bytes*/) noexcept {
  ::operator delete(block);
}
