// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "harness/simt/ptx/module.h"

namespace gauntlet::simt::ptx {

struct Token {
  enum class Kind : std::uint8_t { word, number, text, mark, end } kind = Kind::end;
  std::string_view text;    // a word with its dots: "ld.param.u64", "%tid.x", ".visible"
  std::uint64_t value = 0;  // of a number
  enum class Number : std::uint8_t { integer, single, real } number = Number::integer;
};

/// Splits PTX into words, numbers, quoted texts and marks; skips blanks and comments.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { next(); }

  const Token& peek() const { return token_; }
  Token take();
  std::uint32_t line() const { return token_line_; }
  [[noreturn]] void fail(const std::string& why) const;

 private:
  void next();
  void skip_blanks();
  void read_number();

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  std::uint32_t token_line_ = 1;
  Token token_;
};

}  // namespace gauntlet::simt::ptx
