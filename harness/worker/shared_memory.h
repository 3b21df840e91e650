// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "harness/sandbox/fd.h"

namespace gauntlet {

/// Memory that we and a worker see, in a memory file whose size is sealed, so that no truncation
/// can make our own accesses fault. Pages exist from their first use on.
class SharedMemory {
 public:
  enum class Writers {
    us,         // the kernel refuses a writable mapping to everybody whom we give fd()
    us_and_it,  // until nobody_writes()
  };

  SharedMemory(const char* name, std::size_t bytes, Writers writers);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  std::byte* base() const { return base_; }
  std::size_t bytes() const { return bytes_; }
  int fd() const { return theirs_ ? theirs_.get() : file_.get(); }  // for the worker

  /// The range reads as zeros, also in the worker; all but a few of its pages are given back.
  void clear(std::size_t begin, std::size_t end);
  /// The same, and none of its pages is left, so that none counts as somebody's memory.
  void give_back(std::size_t begin, std::size_t end);

  /// All pages of the range exist: so many at once take less time than a fault for each.
  void populate(std::size_t begin, std::size_t end);

  /// First byte of the range that is not zero, as an offset into the memory; `end` if there is
  /// none. Costs one system call for a range that holds no page.
  std::size_t first_written(std::size_t begin, std::size_t end) const;

  /// Unmaps our view and asks the kernel to forbid writing. It refuses exactly when a writable
  /// mapping is left anywhere: false means that somebody survived.
  bool nobody_writes();

 private:
  /// Offsets into the memory.
  struct Extent {
    std::size_t begin, end;
  };
  /// The first pages in a range that exist; empty at its end where there are none.
  Extent first_data(std::size_t begin, std::size_t end) const;
  /// Calls it with all of them.
  template <class Emptied>
  void each_data(std::size_t begin, std::size_t end, Emptied emptied);
  void punch(const Extent& data);

  Fd file_;
  Fd theirs_;  // the same file, open for reading; none when the worker may write
  std::byte* base_ = nullptr;
  std::size_t bytes_;
};

/// A private, unchangeable copy of a file in memory: what it holds can no longer be exchanged, and
/// a process can use it that could not reach the file's folder. Throws Broken.
Fd sealed_copy(const std::filesystem::path& file, const char* name);

/// The same for bytes.
Fd sealed_copy(std::span<const std::byte> bytes, const char* name);

}  // namespace gauntlet
