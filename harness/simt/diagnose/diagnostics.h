// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "harness/simt/decode/program.h"

namespace gauntlet::simt {

using Index3 = std::array<std::uint32_t, 3>;  // x, y, z

enum class Fault : std::uint8_t {
  out_of_bounds,      // no allocation holds the whole access
  misaligned,         // the address is no multiple of the access's size
  freed,              // the allocation was unmapped
  read_only,          // a store or an atomic to an input
  undefined_read,     // global or shared memory that nobody has written
  race,               // two threads, one of which writes, and no barrier between
  divergent_barrier,  // threads of a block wait at different barriers
  stuck_barrier,      // a barrier that other threads never reach
  absent_lane,        // a member mask names a lane that does not take part
  foreign_lane,       // a lane that is not in its own member mask
  idle_source,        // a shuffle from a lane that does not take part
  trap,               // trap, or an assertion that failed
};
const char* name_of(Fault fault);

/// One fault at one instruction: the first time that it was seen, and how often it was.
struct Diagnostic {
  Fault fault = Fault::trap;
  std::string kernel;
  std::string source;  // "solution.cu:12"
  Index3 block{}, thread{};
  std::string detail;       // "4 bytes at offset 4096 of 'x', which has 4096"
  std::uint64_t count = 0;  // lanes

  /// "out_of_bounds at solution.cu:12 in k: ..., block (0,0,0), thread (3,0,0), 12 times".
  std::string text() const;
};

/// Collects faults. What a kernel does a million times is kept once.
class Diagnostics {
 public:
  explicit Diagnostics(const Program& program, const Kernel& kernel)
      : program_(program), kernel_(kernel) {}

  /// True the first time: then, and only then, is a detail worth being written, with describe().
  bool add(Fault fault, std::uint32_t instruction, std::uint64_t lanes = 1);
  void describe(Fault fault, std::uint32_t instruction, const Index3& block, const Index3& thread,
                const std::string& detail);

  bool empty() const { return seen_.empty(); }
  std::vector<Diagnostic> list() const;  // by place in the kernel

 private:
  const Program& program_;
  const Kernel& kernel_;
  std::map<std::tuple<std::uint32_t, Fault>, Diagnostic> seen_;
};

}  // namespace gauntlet::simt
