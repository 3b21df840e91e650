// SPDX-License-Identifier: Apache-2.0
#include "harness/audit/wild_code.h"

#include <algorithm>
#include <array>
#include <utility>

namespace gauntlet {
namespace {

constexpr std::array<std::string_view, 3> kOpening{"(", "[", "{"};
constexpr std::array<std::string_view, 3> kClosing{")", "]", "}"};

bool any_of(std::string_view text, const auto& known) {
  return std::find(std::begin(known), std::end(known), text) != std::end(known);
}

bool opens(const Token& token) {
  return any_of(token.text, kOpening);
}

bool closes(const Token& token) {
  return any_of(token.text, kClosing);
}

constexpr std::pair<std::string_view, int> kBinds[] = {
    {"||", 1}, {"&&", 2}, {"|", 3}, {"^", 4},  {"&", 5},  {"==", 6},
    {"!=", 6}, {"<", 7},  {">", 7}, {"<=", 7}, {">=", 7}, {"<<", 8},
    {">>", 8}, {"+", 9},  {"-", 9}, {"*", 10}, {"/", 10}, {"%", 10}};

constexpr std::string_view kBetweenOperands[] = {
    ";",  ",",  "?",  ":",  "=",  "+=",  "-=",  "*=",
    "/=", "%=", "|=", "&=", "^=", "<<=", ">>=", "return"};

}  // namespace

WildCode::WildCode(std::string_view source)
    : source_(source),
      tokens_(tokens(source)),
      partner_(tokens_.size(), kNone),
      around_(tokens_.size(), kNone) {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < size(); ++i) {
    if (closes(at(i)) && !open.empty()) {
      partner_[i] = open.back();
      partner_[open.back()] = i;
      open.pop_back();
    }
    around_[i] = open.empty() ? kNone : open.back();
    if (opens(at(i))) open.push_back(i);
  }
}

int WildCode::binds(std::size_t i) const {
  if (at(i).kind != Token::Kind::punctuator || i == 0 || i + 1 >= size()) return 0;
  if (at(i).directive || !at(i).gap || !at(i + 1).gap) return 0;
  const auto* const found =
      std::find_if(std::begin(kBinds), std::end(kBinds),
                   [&](const auto& known) { return known.first == at(i).text; });
  // "return -x" has no gap behind the sign, and "= &x" none either.
  return found == std::end(kBinds) ? 0 : found->second;
}

bool WildCode::ends_operand(std::size_t i, int binds_more) const {
  const int other = binds(i);
  return any_of(at(i).text, kBetweenOperands) || at(i).directive ||
         (other > 0 && other <= binds_more);
}

WildCode::Range WildCode::left_operand(std::size_t i) const {
  std::size_t begin = i;
  while (begin > 0) {
    std::size_t next = begin - 1;
    if (opens(at(next)) || at(next).text == "}" || ends_operand(next, binds(i))) break;
    if (closes(at(next))) next = partner(next);
    if (next == kNone) return {i, i};
    begin = next;
  }
  return {begin, i};
}

WildCode::Range WildCode::right_operand(std::size_t i) const {
  std::size_t end = i + 1;
  while (end < size() && !closes(at(end)) && !ends_operand(end, binds(i))) {
    if (opens(at(end))) end = partner(end);
    if (end == kNone) return {i, i};
    ++end;
  }
  return {i + 1, end};
}

std::vector<WildCode::Range> WildCode::parts(std::size_t open, std::string_view separator) const {
  std::vector<Range> all;
  const std::size_t close = partner(open);
  if (close == kNone) return all;
  std::size_t begin = open + 1;
  for (std::size_t i = begin; i <= close; ++i) {
    if (i != close && !(is(i, separator) && around(i) == open)) continue;
    all.push_back({begin, i});
    begin = i + 1;
  }
  return all;
}

std::size_t WildCode::statement_end(std::size_t i) const {
  for (std::size_t end = i; end < size(); ++end) {
    if (at(end).directive || closes(at(end))) return kNone;
    if (opens(at(end))) end = partner(end);
    if (end == kNone) return kNone;
    if (is(end, ";")) return end + 1;
  }
  return kNone;
}

bool WildCode::begins_statement(std::size_t i) const {
  if (i == 0 || around(i) == kNone || !is(around(i), "{")) return false;
  if (at(i).directive) return false;
  if (at(i - 1).directive || is(i - 1, ";") || is(i - 1, "{") || is(i - 1, "}")) return true;
  if (is(i - 1, "else")) return true;
  if (!is(i - 1, ")") || partner(i - 1) == kNone || partner(i - 1) == 0) return false;
  const std::size_t control = partner(i - 1) - 1;
  return is(control, "if") || is(control, "for") || is(control, "while");
}

}  // namespace gauntlet
