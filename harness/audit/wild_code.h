// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/core/tokens.h"

namespace gauntlet {

/// C++ text in the style of this house as a rule for mutants sees it: tokens, brackets and what
/// stands on either side of an operator. It is no parser. An operator of two operands is known by
/// the gaps around it, which clang-format makes: "a < b" compares, "vector<int>" does not.
class WildCode {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  /// Some tokens, the last one excluded.
  struct Range {
    std::size_t begin;
    std::size_t end;
    bool empty() const { return begin >= end; }
  };

  explicit WildCode(std::string_view source);

  std::string_view source() const { return source_; }
  std::size_t size() const { return tokens_.size(); }
  const Token& at(std::size_t i) const { return tokens_[i]; }
  bool is(std::size_t i, std::string_view text) const { return i < size() && at(i).text == text; }
  bool is_word(std::size_t i) const { return i < size() && at(i).kind == Token::Kind::word; }

  /// The other bracket of a pair; of any other token the opening one around it. kNone where there
  /// is none.
  std::size_t partner(std::size_t i) const { return partner_[i]; }
  std::size_t around(std::size_t i) const { return around_[i]; }

  /// How strongly the operator of two operands at `i` binds; 0 where there is none.
  int binds(std::size_t i) const;

  /// What stands on either side of the operator at `i`, to the next one that binds as much or less.
  /// Empty where that is not clear.
  Range left_operand(std::size_t i) const;
  Range right_operand(std::size_t i) const;

  /// The parts between the brackets that `open` opens, at each `separator`.
  std::vector<Range> parts(std::size_t open, std::string_view separator) const;

  /// Behind the ";" that ends a statement that begins at `i`; kNone for one that ends otherwise.
  std::size_t statement_end(std::size_t i) const;
  /// True where a statement begins inside a function, or may do so.
  bool begins_statement(std::size_t i) const;

  std::size_t first_byte(Range range) const { return at(range.begin).place; }
  std::size_t last_byte(Range range) const {
    return at(range.end - 1).place + at(range.end - 1).text.size();
  }
  std::string_view text(Range range) const {
    return source_.substr(first_byte(range), last_byte(range) - first_byte(range));
  }

 private:
  bool ends_operand(std::size_t i, int binds_more) const;

  std::string_view source_;
  std::vector<Token> tokens_;
  std::vector<std::size_t> partner_;
  std::vector<std::size_t> around_;
};

}  // namespace gauntlet
