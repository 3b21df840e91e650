// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/simt/decode/program.h"

namespace gauntlet::simt {

/// An operand before it has a slot: a register of the function, or an entry of Draft::constants.
using OperandId = std::uint32_t;
inline constexpr OperandId kConstantBit = 1u << 31;

/// An instruction whose `slots` are still OperandIds.
struct DraftInstr {
  Instr instr;
  const Form* form = nullptr;
  Place place;
  std::uint32_t destinations = 0;  // how many of the slots
  std::uint32_t operands = 0;
  bool guarded = false;
  std::uint32_t label = 0;           // index of the instruction that a branch goes to
  std::vector<std::uint32_t> table;  // the same of a jump table
};

/// A kernel on its way: instructions in the order of the text, then blocks, then slots.
struct Draft {
  const ptx::Module& module;
  const ptx::Function& function;
  std::vector<ptx::Register> registers;  // of the function, and scratch ones
  std::vector<Constant> constants;
  std::vector<DraftInstr> code;
  std::uint32_t static_shared = 0;
  std::uint32_t local_bytes = 0;
  std::uint32_t parameter_bytes = 0;

  /// Loops, as ranges of blocks in the final order, both ends included.
  struct Loop {
    std::uint32_t first, last;
  };
  std::vector<Loop> loops;
};

/// Where variables lie: shared and local ones in their spaces, parameters among the parameters.
class Symbols {
 public:
  explicit Symbols(Draft& draft);

  /// The constant that a name stands for, in a register of `bytes` bytes.
  Constant find(std::string_view name, std::uint8_t bytes, const Place& place);

  /// Once all names were asked for: dynamic shared memory begins after what is static.
  void finish();

 private:
  std::uint32_t lay(std::uint32_t& end, const ptx::Variable& variable, std::uint32_t most);

  Draft& draft_;
  std::map<std::string_view, std::uint32_t> parameters_, locals_, shared_;
  std::map<std::string_view, const ptx::Variable*> variables_;  // of the function
};

/// Chooses the form of one instruction and resolves its operands. Throws PtxError.
DraftInstr match(Draft& draft, Symbols& symbols, const FormTable& forms,
                 const ptx::Instruction& instruction);

/// Splits the code into blocks, drops what is never reached and puts the rest in order, the
/// instructions with it. See control_flow.cpp for the order.
void order_blocks(Draft& draft, Kernel& kernel);

/// Gives every operand its slot and writes the kernel's code.
void allocate_slots(Draft& draft, Kernel& kernel);

/// A kernel whose calls are gone: functions are put in place of their calls, and vprintf and
/// __assertfail become instructions. Throws PtxError for recursion and for unknown functions.
ptx::Function without_calls(ptx::Module& module, const ptx::Function& kernel);

}  // namespace gauntlet::simt
