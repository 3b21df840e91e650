// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/inside/arenas.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gauntlet::inside {
namespace {

// Mappings begin at multiples of it, so that the kernel may use huge pages where it wants to, and
// lie at least one apart.
constexpr std::uint64_t kHugePage = std::uint64_t{2} << 20;

std::size_t size_of(int fd) {
  struct stat facts {};
  if (fstat(fd, &facts) != 0) std::abort();
  return static_cast<std::size_t>(facts.st_size);
}

constexpr std::size_t place_for(std::size_t bytes) {
  return (bytes / kHugePage + 2) * kHugePage;
}

std::size_t places(bool with_device) {
  std::size_t sum = with_device ? place_for(size_of(wire::kDeviceFd)) : 0;
  for (const int fd : {wire::kControlFd, wire::kInFd, wire::kOutFd}) sum += place_for(size_of(fd));
  return sum;
}

}  // namespace

Arenas::Mapping Arenas::map(int fd, int protection) {
  const std::size_t bytes = size_of(fd);
  void* base = mmap(next_, bytes, protection, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fd, 0);
  if (base == MAP_FAILED) {
    std::fprintf(stderr, "memory to share cannot be mapped: %s", std::strerror(errno));
    std::abort();
  }
  close(fd);
  next_ += place_for(bytes);
  return {static_cast<std::byte*>(base), bytes};
}

Arenas::Arenas(bool with_device)
    : kept_(keep_memory(places(with_device))),
      next_(kept_.base),
      control_(
          reinterpret_cast<wire::Control*>(map(wire::kControlFd, PROT_READ | PROT_WRITE).base)),
      in_(map(wire::kInFd, PROT_NONE)),
      out_(map(wire::kOutFd, PROT_NONE)),
      device_(with_device ? map(wire::kDeviceFd, PROT_READ | PROT_WRITE) : Mapping{}) {
  if (mprotect(in_.base, wire::kOrderBytes, PROT_READ) != 0) std::abort();
  control_->in_base = reinterpret_cast<std::uint64_t>(in_.base);
  control_->out_base = reinterpret_cast<std::uint64_t>(out_.base);
}

// In one call for all ranges, whose neighbours are shut as well: the kernel joins them at once.
void Arenas::shut_open_ranges(wire::ArenaId arena, std::uint64_t from) {
  std::uint64_t begin = UINT64_MAX;
  std::uint64_t end = 0;
  for (std::uint32_t i = 0; i < open_count_; ++i) {
    if (open_[i].arena != arena || open_[i].offset < from) continue;
    begin = std::min(begin, open_[i].offset);
    end = std::max(end, open_[i].offset + open_[i].bytes);
  }
  if (begin < end) mprotect(at(arena, begin), end - begin, PROT_NONE);
}

void Arenas::open_range(const wire::Range& range) {
  const bool writable = range.arena == wire::ArenaId::out;
  std::byte* base = at(range.arena, range.offset);
  if (mprotect(base, range.bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ) != 0) std::abort();
  if (!range.populate) return;
  if (madvise(base, range.bytes, writable ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) == 0) return;
  for (std::size_t page = 0; page < range.bytes; page += wire::kPage) {  // before Linux 5.14
    volatile std::byte* first = base + page;
    if (writable)
      *first = *first;
    else
      (void)*first;
  }
}

/// The offset from which on the open ranges of the arena are not those of the order. Both ascend.
std::uint64_t Arenas::same_until(const wire::Order& order, wire::ArenaId arena) const {
  const auto next = [arena](const wire::Range* ranges, std::uint32_t count, std::uint32_t& i) {
    while (i < count && ranges[i].arena != arena) ++i;
    return i < count ? ranges[i] : wire::Range{arena, UINT64_MAX, 0, false};
  };
  for (std::uint32_t i = 0, j = 0;; ++i, ++j) {
    const wire::Range open = next(open_, open_count_, i);
    const wire::Range wanted = next(order.ranges, order.range_count, j);
    if (open.offset != wanted.offset || open.bytes != wanted.bytes || open.bytes == 0)
      return std::min(open.offset, wanted.offset);
  }
}

void Arenas::lay(const wire::Order& order) {
  std::uint64_t from[2];
  for (const wire::ArenaId arena : {wire::ArenaId::in, wire::ArenaId::out}) {
    std::uint64_t& changed = from[static_cast<std::size_t>(arena)];
    changed = same_until(order, arena);
    shut_open_ranges(arena, changed);
  }
  open_count_ = order.range_count;
  std::copy_n(order.ranges, open_count_, open_);
  for (std::uint32_t i = 0; i < open_count_; ++i)
    if (open_[i].offset >= from[static_cast<std::size_t>(open_[i].arena)]) open_range(open_[i]);
}

}  // namespace gauntlet::inside
