// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/simt/decode/instr.h"

namespace gauntlet::simt {

/// What a form does besides computing in its lanes, which decides where blocks of code end.
enum class Role : std::uint8_t {
  plain,
  memory,    // has an address and a MemoryForm
  converge,  // waits for the lanes that its member mask names: leads a block
  barrier,   // waits for other warps: ends a block
  branch,
  table_branch,
  leave,  // ret, exit
  trap,
  call,
};

/// One exact spelling of an instruction, with one exact list of operands.
///
/// `operands` tells them one by one, destinations before '=': H, W, D are registers of 16, 32 and
/// 64 bits, where a source may be a number or a symbol as well; P a predicate; ? a second
/// destination after '|', a predicate; A an address; I a number; L a label or jump table; {..} a
/// vector, whose destinations may be left out ('_'). "W=W,W" is add.u32, "{WW}=A" is ld.v2.u32.
struct Form {
  std::string operands;
  Run run = nullptr;
  Class kind = Class::move;
  Role role = Role::plain;
  MemoryForm memory = {};
  std::uint8_t variant = 0;
};

/// Every form that can be executed, and nothing else. Nothing is matched by part of its name.
class FormTable {
 public:
  /// Adds the form under each spelling of a pattern: "add{.u32,.s32}" are two.
  void add(std::string_view pattern, const Form& form);

  /// All operand lists of an opcode; empty where it is not known.
  const std::vector<Form>& find(std::string_view opcode) const;

  const std::map<std::string, std::vector<Form>, std::less<>>& all() const { return forms_; }

 private:
  std::map<std::string, std::vector<Form>, std::less<>> forms_;
};

/// "a{b,c}d" -> "abd", "acd".
std::vector<std::string> spellings(std::string_view pattern);

/// The table with the functions that suit this machine's CPU; made once.
const FormTable& form_table();

// How wide a CPU's vector instructions are that the functions of a table use. Results are equal.
enum class VectorUnit { baseline, avx2 };
VectorUnit best_vector_unit();
const FormTable& form_table(VectorUnit unit);

}  // namespace gauntlet::simt
