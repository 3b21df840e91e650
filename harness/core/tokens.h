// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace gauntlet {

/// What a compiler makes one thing of in C++ text. A literal is one token with its prefix and all
/// that looks like a comment or a gap in it.
struct Token {
  enum class Kind { word, number, literal, punctuator };
  Kind kind;
  std::string_view text;  // of the source that it was found in
  std::size_t place;      // there
  bool gap;               // white space or a comment stands before it
  bool directive;         // it stands in a line of the preprocessor
};

/// The source without its comments and white space. Does not fail: what is left open ends with the
/// text.
std::vector<Token> tokens(std::string_view source);

}  // namespace gauntlet
