// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/ptx/lexer.h"

#include <charconv>
#include <fmt/format.h>

#include "harness/core/text.h"

namespace gauntlet::simt::ptx {
namespace {

bool starts_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%' ||
         c == '.';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

Token Lexer::take() {
  const Token token = token_;
  next();
  return token;
}

void Lexer::fail(const std::string& why) const {
  const std::string_view seen = token_.kind == Token::Kind::end ? "the end" : token_.text;
  throw PtxError(fmt::format("PTX line {}: {}, at '{}'", token_line_, why, one_line(seen, 80)),
                 {0, 0, token_line_});
}

void Lexer::skip_blanks() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    const std::string_view two = text_.substr(at_, 2);
    if (c == '\n') {
      ++line_;
      ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
    } else if (two == "//") {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (two == "/*") {
      const std::size_t end = text_.find("*/", at_ + 2);
      const std::size_t stop = end == std::string_view::npos ? text_.size() : end + 2;
      for (; at_ < stop; ++at_) line_ += text_[at_] == '\n';
    } else {
      return;
    }
  }
}

void Lexer::next() {
  skip_blanks();
  token_ = {};
  token_line_ = line_;
  if (at_ >= text_.size()) return;
  const std::size_t start = at_;
  const char c = text_[at_];
  if (is_digit(c)) return read_number();
  if (starts_word(c)) {
    while (at_ < text_.size() && (starts_word(text_[at_]) || is_digit(text_[at_]))) {
      // "::" belongs to a modifier (.shared::cta), one colon ends a label.
      ++at_;
      if (text_.substr(at_, 2) == "::" && at_ + 2 < text_.size() && starts_word(text_[at_ + 2]))
        at_ += 2;
    }
    token_.kind = Token::Kind::word;
  } else if (c == '"') {
    const std::size_t end = text_.find_first_of("\"\n", at_ + 1);
    if (end == std::string_view::npos || text_[end] != '"') fail("a quoted text has no end");
    at_ = end + 1;
    token_.kind = Token::Kind::text;
    token_.text = text_.substr(start + 1, end - start - 1);
    return;
  } else {
    ++at_;
    token_.kind = Token::Kind::mark;
  }
  token_.text = text_.substr(start, at_ - start);
}

void Lexer::read_number() {
  const std::size_t start = at_;
  while (at_ < text_.size() && (is_digit(text_[at_]) || (starts_word(text_[at_]) &&
                                                         text_[at_] != '.' && text_[at_] != '%')))
    ++at_;
  token_.kind = Token::Kind::number;
  token_.text = text_.substr(start, at_ - start);
  std::string_view digits = token_.text;
  int base = 10;
  std::size_t wanted = 0;
  const std::string_view head = digits.substr(0, 2);
  if (head == "0f" || head == "0F" || head == "0d" || head == "0D") {
    const bool single = head[1] == 'f' || head[1] == 'F';
    token_.number = single ? Token::Number::single : Token::Number::real;
    wanted = single ? 8 : 16;
    base = 16;
  } else if (head == "0x" || head == "0X") {
    base = 16;
  } else if (digits.size() > 1 && digits[0] == '0') {
    base = 8;
  }
  if (base == 16) digits.remove_prefix(2);
  if (wanted == 0 && digits.ends_with('U')) digits.remove_suffix(1);
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, token_.value, base);
  if (digits.empty() || error != std::errc() || stop != end ||
      (wanted != 0 && digits.size() != wanted))
    fail("this is no number that fits 64 bits");
}

}  // namespace gauntlet::simt::ptx
