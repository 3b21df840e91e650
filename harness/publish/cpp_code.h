// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "harness/core/tokens.h"

namespace gauntlet {

/// Which bytes of a C++ source can be replaced without another program coming of it.
class CppCode {
 public:
  explicit CppCode(std::string_view source) : source_(source), tokens_(tokens(source)) {}

  /// They lie in comments, or between the quotes of one literal that names no file to include.
  /// A path in a comment is nobody's loss. A literal is replaced because a key in it is a leak as
  /// anywhere else; the program then says another word and is otherwise the same.
  bool may_replace(std::size_t begin, std::size_t end) const;

  /// The other source has the same tokens, and literals of the same kind at the same places.
  bool same_but_literals(const CppCode& other) const;

 private:
  bool includes_a_file(const Token& literal) const;

  std::string_view source_;
  std::vector<Token> tokens_;
};

}  // namespace gauntlet
