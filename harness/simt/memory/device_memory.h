// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/simt/count/counters.h"
#include "harness/simt/decode/program.h"
#include "harness/simt/memory/defined_bytes.h"

namespace gauntlet::simt {

enum class Access : std::uint8_t { read_only, read_write };
enum class Content : std::uint8_t { defined, undefined };

/// Where an allocation begins: `skew` bytes after a multiple of `alignment`, a power of two; or at
/// this very address.
struct Alignment {
  std::uint64_t alignment = 256;  // bytes
  std::uint64_t skew = 0;         // bytes, below it
  std::optional<std::uint64_t> address = {};
};

/// An allocation. Bytes belong to the caller, who keeps them while the region is mapped.
struct Region {
  std::string name;
  std::uint64_t address = 0;
  std::span<std::byte> bytes;
  Access access = Access::read_write;
  bool is_mapped = true;
  DefinedBytes defined;
  DefinedBytes from_host;  // bytes that the caller wrote and no kernel since, where he tracks it
  BufferTraffic traffic;   // of the launch that is under way, or of the last one

  bool holds(std::uint64_t first, std::uint64_t count) const {
    return first >= address && count <= bytes.size() && first - address <= bytes.size() - count;
  }
};

/// Global memory: regions with gaps between them, at addresses that are never given twice. The same
/// calls give the same addresses on every machine.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Maps bytes and returns their device address, which has the alignment and no larger one. Reads
  /// of undefined content are reported until it was written. Throws std::bad_alloc where the very
  /// address is not behind all that was ever mapped.
  std::uint64_t map(std::string name, std::span<std::byte> bytes,
                    Access access = Access::read_write, Content content = Content::defined,
                    Alignment alignment = {});

  /// The region that begins at `address` is gone; its bytes are not touched any more, and an access
  /// is reported as one of memory that was freed. False where none begins there.
  bool unmap(std::uint64_t address);

  /// Maps the .global and .const variables of a program, with the values that they start with. They
  /// are found by their names. One program a memory.
  void load(const Program& program);
  /// Address of a variable of load(); 0 where there is none.
  std::uint64_t address_of(std::size_t variable) const { return variables_.at(variable); }
  std::uint64_t address_of(std::string_view variable) const;

  /// The region that holds the address, mapped or not, or the last one before it; null where there
  /// is none.
  Region* find(std::uint64_t address);

  std::deque<Region>& regions() { return regions_; }

 private:
  std::deque<Region> regions_;  // by ascending address
  std::vector<std::uint64_t> variables_;
  std::vector<std::string> variable_names_;
  std::deque<std::vector<std::byte>> storage_;  // of variables
  std::uint64_t next_ = 0;
};

}  // namespace gauntlet::simt
