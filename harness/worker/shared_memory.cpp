// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/shared_memory.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "harness/core/files.h"
#include "harness/sandbox/launch.h"

namespace gauntlet {
namespace {

constexpr std::size_t kKeptOfRange = 256 << 10;  // bytes of pages that are zeroed, not given back
constexpr unsigned kExecutable = 0x10;  // MFD_EXEC, Linux 6.3; some systems refuse to start others

Fd memory_file(const char* name) {
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  Fd file(memfd_create(name, kFlags | kExecutable));
  if (!file) file = Fd(memfd_create(name, kFlags));
  if (!file) broken_call("memfd_create");
  return file;
}

/// Every byte is the one before it, and the first is zero.
bool is_zero(const std::byte* first, const std::byte* last) {
  return first == last ||
         (*first == std::byte{0} &&
          std::memcmp(first, first + 1, static_cast<std::size_t>(last - first) - 1) == 0);
}

}  // namespace

SharedMemory::SharedMemory(const char* name, std::size_t bytes, Writers writers)
    : file_(memory_file(name)), bytes_(bytes) {
  if (ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0) broken_call("sizing shared memory");
  const std::lock_guard no_fork(fork_mutex());
  void* base =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_.get(), 0);
  if (base == MAP_FAILED) broken_call("mapping shared memory");
  base_ = static_cast<std::byte*>(base);
  // No child of ours may hold this open for writing, not even for the moment between fork and exec:
  // nobody_writes() would take it for a process of the solution that has survived.
  if (madvise(base, bytes, MADV_DONTFORK) != 0) broken_call("keeping shared memory from children");
  if (fcntl(file_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)
    broken_call("sealing shared memory");
  if (writers == Writers::us_and_it) return;
  // Not F_SEAL_FUTURE_WRITE: under that seal nobody can clear() either.
  theirs_ = Fd(open(fmt::format("/proc/self/fd/{}", file_.get()).c_str(), O_RDONLY | O_CLOEXEC));
  if (!theirs_) broken_call("opening shared memory for reading");
}

SharedMemory::~SharedMemory() {
  if (base_ != nullptr) munmap(base_, bytes_);
}

SharedMemory::Extent SharedMemory::first_data(std::size_t begin, std::size_t end) const {
  const off_t data = lseek(file_.get(), static_cast<off_t>(begin), SEEK_DATA);
  if (data < 0 || static_cast<std::size_t>(data) >= end) return {end, end};
  const off_t hole = lseek(file_.get(), data, SEEK_HOLE);
  const std::size_t last = hole < 0 ? end : static_cast<std::size_t>(hole);
  return {std::max(begin, static_cast<std::size_t>(data)), std::min(end, last)};
}

// Of a range that holds little the kernel would walk all page tables, which are there for ever.
template <class Emptied>
void SharedMemory::each_data(std::size_t begin, std::size_t end, Emptied emptied) {
  for (Extent data{}; begin < end; begin = data.end) {
    data = first_data(begin, end);
    if (data.begin < data.end) emptied(data);
  }
}

void SharedMemory::punch(const Extent& data) {
  if (fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                static_cast<off_t>(data.begin), static_cast<off_t>(data.end - data.begin)) != 0)
    broken_call("clearing shared memory");
}

// Few pages are sooner overwritten than given back, on all processors, and asked for again.
void SharedMemory::clear(std::size_t begin, std::size_t end) {
  std::size_t kept = 0;
  each_data(begin, end, [&](const Extent& data) {
    const std::size_t bytes = data.end - data.begin;
    if (kept + bytes > kKeptOfRange) return punch(data);
    std::memset(base_ + data.begin, 0, bytes);
    kept += bytes;
  });
}

void SharedMemory::give_back(std::size_t begin, std::size_t end) {
  each_data(begin, end, [&](const Extent& data) { punch(data); });
}

void SharedMemory::populate(std::size_t begin, std::size_t end) {
  madvise(base_ + begin, end - begin, MADV_POPULATE_WRITE);  // Linux before 5.14: by faults
}

std::size_t SharedMemory::first_written(std::size_t begin, std::size_t end) const {
  for (Extent data{}; begin < end; begin = data.end) {
    // A page may exist without having been written: huge pages reach beyond what was asked for.
    data = first_data(begin, end);
    const std::byte* first = base_ + data.begin;
    const std::byte* last = base_ + data.end;
    if (is_zero(first, last)) continue;
    const std::byte* found =
        std::find_if(first, last, [](std::byte b) { return b != std::byte{0}; });
    if (found != last) return static_cast<std::size_t>(found - base_);
  }
  return end;
}

bool SharedMemory::nobody_writes() {
  if (base_ != nullptr) munmap(base_, bytes_);
  base_ = nullptr;
  return fcntl(file_.get(), F_ADD_SEALS, F_SEAL_WRITE) == 0;
}

Fd sealed_copy(std::span<const std::byte> bytes, const char* name) {
  Fd copy = memory_file(name);
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = write(copy.get(), bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno != EINTR) broken_call("copying into memory");
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  if (fcntl(copy.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)
    broken_call("sealing a copy in memory");
  return copy;
}

Fd sealed_copy(const std::filesystem::path& file, const char* name) {
  try {
    const std::string content = read_file(file);
    return sealed_copy(std::as_bytes(std::span(content)), name);
  } catch (const UserError& error) {
    throw Broken(OwnFault::files, error.what());
  }
}

}  // namespace gauntlet
