// SPDX-License-Identifier: Apache-2.0
#include "harness/publish/cpp_code.h"

#include <algorithm>
#include <array>

namespace gauntlet {

bool CppCode::may_replace(std::size_t begin, std::size_t end) const {
  // The first token that ends behind `begin`.
  const auto token = std::partition_point(tokens_.begin(), tokens_.end(), [&](const Token& one) {
    return one.place + one.text.size() <= begin;
  });
  if (token == tokens_.end() || token->place >= end) return true;
  if (token->kind != Token::Kind::literal || includes_a_file(*token)) return false;
  const std::size_t opening = token->text.find_first_of("\"'");
  return opening != std::string_view::npos && begin > token->place + opening &&
         end < token->place + token->text.size();
}

bool CppCode::includes_a_file(const Token& literal) const {
  if (!literal.directive) return false;
  const std::size_t line = source_.rfind('\n', literal.place);
  std::string_view before = source_.substr(line == std::string_view::npos ? 0 : line + 1);
  const auto skip_blanks = [&] {
    before.remove_prefix(std::min(before.find_first_not_of(" \t"), before.size()));
  };
  skip_blanks();
  if (!before.starts_with('#')) return true;  // a line that goes on: nobody knows which one
  before.remove_prefix(1);
  skip_blanks();
  constexpr std::array<std::string_view, 4> kNamesFiles{"include", "import", "embed", "line"};
  return std::any_of(kNamesFiles.begin(), kNamesFiles.end(),
                     [&](std::string_view word) { return before.starts_with(word); });
}

bool CppCode::same_but_literals(const CppCode& other) const {
  const auto opening = [](const Token& token) {
    return token.text.substr(0, token.text.find_first_of("\"'") + 1);
  };
  return std::equal(tokens_.begin(), tokens_.end(), other.tokens_.begin(), other.tokens_.end(),
                    [&](const Token& a, const Token& b) {
                      if (a.kind != b.kind || a.directive != b.directive || a.gap != b.gap)
                        return false;
                      if (a.kind != Token::Kind::literal) return a.text == b.text;
                      return opening(a) == opening(b) && a.text.back() == b.text.back();
                    });
}

}  // namespace gauntlet
