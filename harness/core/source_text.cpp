// SPDX-License-Identifier: Apache-2.0
#include "harness/core/source_text.h"

#include <cctype>

namespace gauntlet {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool is_space(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

bool is_quote(char c) {
  return c == '"' || c == '\'';
}

bool is_operator(char c) {
  return std::string_view("+-*/%<>=!&|^~:.#?").find(c) != std::string_view::npos;
}

/// True when the two might become one token without a space: words, a literal and its prefix or
/// suffix, operators.
bool could_join(char before, char after) {
  if (is_operator(before) && is_operator(after)) return true;
  return (is_word(before) && (is_word(after) || is_quote(after))) ||
         (is_quote(before) && is_word(after));
}

/// Goes through the text once, from one token, comment or gap to the next.
class Reader {
 public:
  explicit Reader(std::string_view source) : source_(source) {}

  std::string read() {
    while (!rest().empty()) {
      if (is_space(rest().front()))
        gap();
      else if (rest().starts_with("//"))
        comment(line_end());
      else if (rest().starts_with("/*"))
        comment(after("*/", 2));
      else
        token();
    }
    return std::move(text_);
  }

 private:
  std::string_view rest() const { return source_.substr(at_); }

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

  void comment(std::size_t bytes) {
    at_ += bytes;
    gap_ = true;
  }

  void gap() {
    if (rest().front() == '\n' && directive_) end_directive();
    gap_ = true;
    ++at_;
  }

  void end_directive() {
    text_ += '\n';
    directive_ = false;
  }

  void token() {
    if (rest().starts_with("\\\n")) {
      gap_ = true;
      at_ += 2;
      return;
    }
    if (rest().front() == '#' && starts_line()) begin_directive();
    const std::size_t bytes = token_bytes();
    // In a directive a space also tells a macro's parameters from its text.
    const bool first = text_.empty() || text_.back() == '\n';
    if (gap_ && !first && (directive_ || could_join(text_.back(), rest().front()))) text_ += ' ';
    gap_ = false;
    text_ += rest().substr(0, bytes);
    at_ += bytes;
  }

  bool starts_line() const {
    std::size_t before = at_;
    while (before > 0 && source_[before - 1] != '\n' && is_space(source_[before - 1])) --before;
    return before == 0 || source_[before - 1] == '\n';
  }

  void begin_directive() {
    if (!text_.empty() && text_.back() != '\n') text_ += '\n';
    directive_ = true;
  }

  /// Literals are one token, with all that looks like a comment or a gap in them.
  std::size_t token_bytes() const {
    std::size_t bytes = 0;
    while (bytes < rest().size() && is_word(rest()[bytes])) ++bytes;
    if (bytes == rest().size()) return bytes;
    const std::string_view prefix = rest().substr(0, bytes);
    const char next = rest()[bytes];
    if (next == '"' && prefix.ends_with('R')) return raw_bytes(bytes);
    const bool separates_digits = next == '\'' && bytes > 0 && std::isdigit(prefix.front());
    if (separates_digits) return bytes + 1;
    if (next == '"' || next == '\'') return quoted_bytes(bytes, next);
    return bytes > 0 ? bytes : 1;
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
  std::string text_;
};

}  // namespace

std::string significant_text(std::string_view source) {
  return Reader(source).read();
}

}  // namespace gauntlet
