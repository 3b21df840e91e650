// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/simt/ptx/lexer.h"
#include "harness/simt/ptx/module.h"
#include "harness/simt/ptx/scopes.h"

namespace gauntlet::simt::ptx {

/// What stands between the braces of a function.
class BodyParser {
 public:
  /// Counts instructions and bytes of variables in totals of the module.
  BodyParser(Lexer& lexer, Function& function, std::size_t& instructions, std::uint64_t& bytes)
      : lexer_(lexer), function_(function), instructions_(instructions), bytes_(bytes) {}

  /// Up to the brace that closes the function.
  void run();

 private:
  void statement();
  void directive(std::string_view word);
  void registers();
  void instruction(std::string_view opcode);
  Operand operand();
  Operand address();
  Operand number();
  std::vector<Operand> sequence(std::string_view end);
  void name_into(Operand& made, std::string_view name);

  Lexer& lexer_;
  Function& function_;
  std::size_t& instructions_;
  std::uint64_t& bytes_;
  Scopes scopes_;
  Place place_;
  std::uint32_t guard_ = Operand::kNone;
  bool guard_negated_ = false;
  int nesting_ = 0;  // of operands
};

}  // namespace gauntlet::simt::ptx
