// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/inside/kept_memory.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>

#include "harness/sandbox/runtime_libraries.h"
#include "harness/sandbox/seccomp_filter.h"
#include "harness/worker/protocol.h"

namespace gauntlet::inside {
namespace {

// A system-call filter compares one half of an address at a time: the lower one is then all zeros.
constexpr std::uint64_t kAligned = std::uint64_t{1} << 32;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) / to * to;
}

int make_resident(dl_phdr_info* info, std::size_t /*size*/, void* /*data*/) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_R) == 0) continue;
    const std::uint64_t begin = (info->dlpi_addr + part.p_vaddr) / wire::kPage * wire::kPage;
    const std::uint64_t end = info->dlpi_addr + part.p_vaddr + part.p_memsz;
    auto* base = reinterpret_cast<std::byte*>(begin);
    if (madvise(base, end - begin, MADV_POPULATE_READ) == 0) continue;
    for (std::uint64_t at = 0; at < end - begin; at += wire::kPage)  // before Linux 5.14
      (void)*static_cast<volatile std::byte*>(base + at);
  }
  return 0;
}

void* reserve(std::size_t bytes) {
  return mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/// The kernel takes the highest gap that is large enough. From the largest size down to a page.
void close_gaps_above(const void* floor) {
  for (std::size_t bytes = kKeptGuard; bytes >= wire::kPage; bytes /= 2) {
    void* filled = reserve(bytes);
    for (; filled != MAP_FAILED && filled > floor; filled = reserve(bytes)) {
    }
    if (filled != MAP_FAILED) munmap(filled, bytes);
  }
}

}  // namespace

void bring_in_libraries() {
  // One that this machine lacks is one that no solution is linked to.
  for (const char* name : kRuntimeLibraries) dlopen(name, RTLD_NOW | RTLD_LOCAL);
  dl_iterate_phdr(make_resident, nullptr);
}

void blank_environment() {
  for (const char* name : {"GLIBC_TUNABLES", "OMP_NUM_THREADS"})
    if (char* value = std::getenv(name)) {
      std::memset(value, ' ', std::strlen(value));
      unsetenv(name);
    }
}

KeptMemory keep_memory(std::size_t bytes) {
  const std::size_t room = round_up(bytes, kAligned);
  const std::size_t all = kAligned + kKeptGuard + room + kKeptGuard;
  void* lowest = reserve(all);
  if (lowest == MAP_FAILED) {
    std::fprintf(stderr, "no address space for %zu bytes: %s; is it limited (ulimit -v)?", all,
                 std::strerror(errno));
    std::abort();
  }
  close_gaps_above(lowest);
  const std::uint64_t from = round_up(reinterpret_cast<std::uint64_t>(lowest), kAligned);
  const std::uint64_t base = from + kKeptGuard;
  return {{from, base + room}, reinterpret_cast<std::byte*>(base)};
}

}  // namespace gauntlet::inside
