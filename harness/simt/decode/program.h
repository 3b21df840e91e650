// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/simt/decode/form_table.h"
#include "harness/simt/decode/instr.h"
#include "harness/simt/ptx/module.h"

namespace gauntlet::simt {

/// Registers that hold the same in every instruction: filled once for a warp.
enum class Special : std::uint8_t {
  none,
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  gridid,
  smid,
  nsmid,
  lanemask_eq,
  lanemask_lt,
  lanemask_le,
  lanemask_gt,
  lanemask_ge,
  dynamic_shared,
  total_shared,
};

/// A slot whose value does not depend on what was executed before.
struct Constant {
  enum class From : std::uint8_t { number, special, variable, local_base, shared_base };

  std::uint32_t slot = 0;
  std::uint8_t bytes = 4;  // 2, 4, 8; 0 is a predicate
  From from = From::number;
  std::uint64_t value = 0;  // the number; the Special; the module variable's index; an offset
};

/// A straight run of instructions, entered at its first only.
struct Block {
  enum class End : std::uint8_t { next, jump, branch, table, leave, trap, barrier };

  std::uint32_t first = 0;  // instructions first .. last - 1 are executed in order
  std::uint32_t last = 0;
  End end = End::next;
  std::uint32_t next = 0;         // block that follows, where not all lanes go elsewhere
  std::uint32_t target = 0;       // of jump and branch
  std::uint32_t closing = kNone;  // instruction that ends the block: a branch, a barrier, a trap
  std::uint32_t counted = 0;      // instructions that one execution counts for
  bool converges = false;         // its first instruction waits for other lanes

  static constexpr std::uint32_t kNone = ~0u;
};

/// A kernel that can be launched.
struct Kernel {
  std::string name;
  std::vector<Instr> code;
  std::vector<Place> places;   // of each instruction
  std::vector<Class> classes;  // of each instruction
  std::vector<Block> blocks;   // in the order in which lanes that are apart run, see order_blocks
  std::vector<std::vector<std::uint32_t>> tables;  // blocks of brx.idx
  std::vector<Constant> constants;
  std::uint32_t constant_bytes = 0;  // of their slots, which are the first ones of a frame
  std::uint32_t frame_bytes = 0;     // of all register slots of a warp
  std::uint32_t parameter_bytes = 0;
  std::uint32_t static_shared = 0;
  std::uint32_t local_bytes = 0;  // of one thread
  std::uint32_t most_threads = 1024;
  std::uint32_t shared_granule = 4;  // fewest bytes that one access to shared memory has
  std::uint32_t global_granule = 4;
};

/// A module, decoded. Immutable: several devices may run it.
struct Program {
  std::unique_ptr<ptx::Module> module;
  std::vector<Kernel> kernels;

  const Kernel* find(std::string_view kernel) const;
  std::string source_of(const Place& place) const;  // see source_name
};

/// "solution.cu:12", or "PTX line 80" where there is no line information.
std::string source_name(const ptx::Module& module, const Place& place);

/// Decodes all kernels. Throws PtxError that names the first instruction that cannot be run.
Program decode(std::unique_ptr<ptx::Module> module, const FormTable& forms = form_table());

}  // namespace gauntlet::simt
