// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "harness/simt/ptx/module.h"

namespace gauntlet::simt {

inline constexpr std::uint32_t kLanes = 32;
inline constexpr std::uint32_t kAllLanes = ~0u;

/// How many lanes a mask has. Not std::popcount: without the instruction, which not every x86-64
/// CPU has, that is a call into the compiler's library.
inline std::uint32_t lane_count(std::uint32_t mask) {
  if (mask == kAllLanes) return kLanes;
  mask -= mask >> 1 & 0x55555555u;
  mask = (mask & 0x33333333u) + (mask >> 2 & 0x33333333u);
  return ((mask + (mask >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}

struct Instr;

/// Register slots of a warp: 32 lanes side by side of 2, 4 or 8 bytes; a predicate is one mask.
struct Frame {
  std::byte* slots = nullptr;
};

/// Executes one instruction for the lanes of `mask`, which is never empty. What needs more than
/// registers takes the frame for the Warp that it is a part of.
using Run = void (*)(Frame& frame, const Instr& instr, std::uint32_t mask);

/// What an instruction is counted as.
enum class Class : std::uint8_t {
  integer,     // whole numbers, bits, addresses
  single,      // 32-bit floating point: add, multiply, fma, divide, compare ...
  real,        // 64-bit floating point
  half,        // 16-bit floating point, packed or not
  special,     // approximations: ex2, lg2, sin, cos, rsqrt ...
  conversion,  // from one type to another
  move,        // copies, selections, packing
  load,        // of any space but parameters
  store,
  atomic,
  exchange,   // shuffles, votes, matches, warp reductions
  barrier,    // of a block or warp, and fences
  parameter,  // reads of kernel parameters
  control,    // branches, returns, calls
};
inline constexpr std::size_t kClasses = 14;

/// Inline, because who reads reports of counts is linked to no simulator.
inline const char* name_of(Class kind) {
  static constexpr std::array<const char*, kClasses> kNames{
      "integer", "single", "real",   "half",     "special", "conversion", "move",
      "load",    "store",  "atomic", "exchange", "barrier", "parameter",  "control"};
  return kNames.at(static_cast<std::size_t>(kind));
}

/// How a load, a store or an atomic touches memory.
struct MemoryForm {
  enum class Order : std::uint8_t { weak, relaxed, acquire, release, both };

  ptx::Space space = ptx::Space::generic;
  std::uint8_t bytes = 4;       // of one element in memory: 1, 2, 4, 8
  std::uint8_t count = 1;       // elements of a lane: 1, 2, 4
  bool narrow_address = false;  // the address is a 32-bit register
  Order order = Order::weak;

  std::uint32_t lane_bytes() const { return std::uint32_t(bytes) * count; }
};

/// One decoded instruction. Operands are offsets of register slots in the frame of a warp.
struct Instr {
  Run run = nullptr;
  std::uint32_t guard = 0;       // slot of the predicate that says which lanes take part
  std::uint32_t guard_flip = 0;  // all ones where it is negated
  std::uint32_t slots[8] = {};   // as written, destinations first; vectors are spelled out
  std::int64_t immediate = 0;    // added to an address; number of a jump table
  std::uint32_t index = 0;       // of this instruction in its kernel
  MemoryForm memory;
  std::uint8_t variant = 0;  // of a barrier, see BarrierVariant
};

/// What a barrier instruction gives, and whether it says how many threads it waits for. Its
/// operands are [result,] number [, threads] [, predicate].
struct BarrierVariant {
  enum : std::uint8_t { sync = 0, count = 1, all = 2, any = 3, kind = 3, has_threads = 4 };
};

}  // namespace gauntlet::simt
