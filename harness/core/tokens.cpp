// SPDX-License-Identifier: Apache-2.0
#include "harness/core/tokens.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace gauntlet {
namespace {

bool is_word_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool is_blank(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

// Longer ones first: the longest that fits is the token.
constexpr std::string_view kOperators[] = {
    "<<=", ">>=", "...", "->*", "<=>", "::", "->", "++", "--", "<<", ">>", "<=", ">=", "==",
    "!=",  "&&",  "||",  "+=",  "-=",  "*=", "/=", "%=", "&=", "|=", "^=", ".*", "##"};

/// Goes through the text once, from one token, comment or gap to the next.
class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  std::vector<Token> read() {
    while (!rest().empty()) {
      if (is_blank(rest().front()))
        gap();
      else if (rest().starts_with("\\\n"))
        skip(2);
      else if (rest().starts_with("//"))
        skip(line_end());
      else if (rest().starts_with("/*"))
        skip(after("*/", 2));
      else
        token();
    }
    return std::move(tokens_);
  }

 private:
  std::string_view rest() const { return source_.substr(at_); }
  char at(std::size_t i) const { return i < rest().size() ? rest()[i] : '\0'; }

  /// How many bytes of the rest lie before the end of `mark`, looked for behind `from` of them.
  std::size_t after(std::string_view mark, std::size_t from) const {
    const std::size_t found = rest().find(mark, from);
    return found == std::string_view::npos ? rest().size() : found + mark.size();
  }

  /// A line goes on after a backslash, a comment's as well.
  std::size_t line_end() const {
    std::size_t end = rest().find('\n');
    while (end != std::string_view::npos && end > 0 && rest()[end - 1] == '\\')
      end = rest().find('\n', end + 1);
    return end == std::string_view::npos ? rest().size() : end;
  }

  void skip(std::size_t bytes) {
    at_ += bytes;
    gap_ = true;
  }

  void gap() {
    if (rest().front() == '\n') directive_ = false;
    skip(1);
  }

  void token() {
    if (rest().front() == '#' && starts_line()) directive_ = true;
    Token::Kind kind = Token::Kind::punctuator;
    const std::size_t bytes = token_bytes(kind);
    tokens_.push_back({kind, rest().substr(0, bytes), at_, gap_, directive_});
    gap_ = false;
    at_ += bytes;
  }

  bool starts_line() const {
    std::size_t before = at_;
    while (before > 0 && source_[before - 1] != '\n' && is_blank(source_[before - 1])) --before;
    return before == 0 || source_[before - 1] == '\n';
  }

  std::size_t token_bytes(Token::Kind& kind) const {
    if (is_digit(at(0)) || (at(0) == '.' && is_digit(at(1)))) {
      kind = Token::Kind::number;
      return number_bytes();
    }
    std::size_t bytes = 0;
    while (is_word_part(at(bytes))) ++bytes;
    const bool literal = at(bytes) == '"' || at(bytes) == '\'';
    if (literal) kind = Token::Kind::literal;
    if (at(bytes) == '"' && rest().substr(0, bytes).ends_with('R')) return raw_bytes(bytes);
    if (literal) return quoted_bytes(bytes, at(bytes));
    if (bytes > 0) kind = Token::Kind::word;
    return bytes > 0 ? bytes : operator_bytes();
  }

  /// As the preprocessor has it: 1'000, 1.5e-3f, 0x1p-149f.
  std::size_t number_bytes() const {
    std::size_t bytes = 1;
    while (true) {
      const char last = at(bytes - 1);
      const bool exponent = last == 'e' || last == 'E' || last == 'p' || last == 'P';
      const bool sign = (at(bytes) == '+' || at(bytes) == '-') && exponent;
      const bool separator = at(bytes) == '\'' && is_word_part(at(bytes + 1));
      if (!is_word_part(at(bytes)) && at(bytes) != '.' && !sign && !separator) return bytes;
      ++bytes;
    }
  }

  std::size_t operator_bytes() const {
    const auto* const found =
        std::find_if(std::begin(kOperators), std::end(kOperators),
                     [this](std::string_view known) { return rest().starts_with(known); });
    return found == std::end(kOperators) ? 1 : found->size();
  }

  std::size_t quoted_bytes(std::size_t open, char quote) const {
    std::size_t i = open + 1;
    while (i < rest().size() && rest()[i] != quote && rest()[i] != '\n')
      i += rest()[i] == '\\' ? 2 : 1;
    return std::min(i + 1, rest().size());
  }

  std::size_t raw_bytes(std::size_t open) const {
    const std::size_t bracket = rest().find('(', open);
    if (bracket == std::string_view::npos) return rest().size();
    const std::string close = ")" + std::string(rest().substr(open + 1, bracket - open - 1)) + "\"";
    return after(close, bracket);
  }

  std::string_view source_;
  std::size_t at_ = 0;
  bool gap_ = false;        // since the last token
  bool directive_ = false;  // in a line of the preprocessor
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens(std::string_view source) {
  return Lexer(source).read();
}

}  // namespace gauntlet
