// SPDX-License-Identifier: Apache-2.0
#include "harness/audit/wild_rules.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

namespace gauntlet {
namespace {

using Changes = std::vector<WildRule::Change>;
using Range = WildCode::Range;

WildRule::Change replaced(const WildCode& code, Range range, std::string with) {
  return {code.first_byte(range), code.last_byte(range), std::move(with)};
}

/// With the gap before it, so that none is left at the end of a line.
WildRule::Change dropped(const WildCode& code, Range range) {
  const Token& before = code.at(range.begin - 1);
  return {before.place + before.text.size(), code.last_byte(range), ""};
}

/// A change for each token that `fits`.
template <class Fits, class With>
auto each_token(Fits fits, With with) {
  return [=](const WildCode& code) {
    Changes all;
    for (std::size_t i = 0; i < code.size(); ++i)
      if (fits(code, i)) all.push_back(replaced(code, {i, i + 1}, std::string(with(code, i))));
    return all;
  };
}

WildRule operator_rule(std::string name, std::string_view from, const std::string& to) {
  return {std::move(name),
          each_token([=](const WildCode& code,
                         std::size_t i) { return code.is(i, from) && code.binds(i) > 0; },
                     [=](const WildCode&, std::size_t) { return to; })};
}

/// For what can be nothing but an operator: "+=" and "++".
WildRule token_rule(std::string name, std::string_view from, const std::string& to) {
  return {std::move(name),
          each_token([=](const WildCode& code,
                         std::size_t i) { return code.is(i, from) && !code.at(i).directive; },
                     [=](const WildCode&, std::size_t) { return to; })};
}

bool is_plain_number(const WildCode& code, std::size_t i) {
  return code.at(i).kind == Token::Kind::number && !code.at(i).directive;
}

WildRule number_rule(std::string name, const std::string& change) {
  return {std::move(name), each_token(is_plain_number, [=](const WildCode& code, std::size_t i) {
            return fmt::format("({} {})", code.at(i).text, change);
          })};
}

/// A named value where a call or a return hands one on: SOFTMAX_TOPK_BAD_ARGUMENT.
bool is_returned_constant(const WildCode& code, std::size_t i) {
  const std::string_view text = code.at(i).text;
  return code.is_word(i) && i > 0 && (code.is(i - 1, "return") || code.is(i - 1, "?")) &&
         text.size() > 3 &&
         std::ranges::none_of(text, [](unsigned char c) { return std::islower(c) != 0; });
}

/// Not the counter of a loop: 2^31 steps take more memory or time than any call has.
bool is_wide(const WildCode& code, std::size_t i) {
  if (!code.is(i, "int64_t") || code.at(i).directive) return false;
  const std::size_t first = i > 1 && code.is(i - 1, "::") && code.is(i - 2, "std") ? i - 2 : i;
  return first < 2 || !code.is(first - 1, "(") || !code.is(first - 2, "for");
}

/// A change for each operator of one kind, of what it takes and itself.
WildRule operand_rule(std::string name, const std::vector<std::string_view>& operators,
                      bool drops_left) {
  return {std::move(name), [=](const WildCode& code) {
            Changes all;
            for (std::size_t i = 0; i < code.size(); ++i) {
              if (std::ranges::find(operators, code.at(i).text) == operators.end()) continue;
              if (code.binds(i) == 0) continue;
              const Range left = code.left_operand(i);
              const Range right = code.right_operand(i);
              if (left.empty() || right.empty()) continue;
              if (drops_left)
                all.push_back({code.first_byte(left), code.at(i + 1).place, ""});
              else
                all.push_back(dropped(code, {i, right.end}));
            }
            return all;
          }};
}

/// A change for what stands in the brackets of each `word (...)`.
WildRule bracket_rule(
    std::string name, std::string_view word,
    const std::function<void(const WildCode&, std::size_t open, Changes&)>& change) {
  return {std::move(name), [=](const WildCode& code) {
            Changes all;
            for (std::size_t i = 0; i + 1 < code.size(); ++i)
              if (code.is(i, word) && code.is(i + 1, "(") && code.partner(i + 1) != WildCode::kNone)
                change(code, i + 1, all);
            return all;
          }};
}

/// What is asked in an `if` behind what it declares.
Range condition_of(const WildCode& code, std::size_t open) {
  return code.parts(open, ";").back();
}

WildRule condition_rule(std::string name, std::string_view word, const std::string& format) {
  return bracket_rule(
      std::move(name), word, [=](const WildCode& code, std::size_t open, auto& all) {
        const Range condition = condition_of(code, open);
        if (!condition.empty())
          all.push_back(
              replaced(code, condition, fmt::format(fmt::runtime(format), code.text(condition))));
      });
}

WildRule loop_rule(std::string name, const std::string& format) {
  return bracket_rule(
      std::move(name), "for", [=](const WildCode& code, std::size_t open, auto& all) {
        const std::vector<Range> parts = code.parts(open, ";");
        if (parts.size() != 3 || parts[1].empty() || !code.is_word(parts[1].begin)) return;
        all.push_back(replaced(
            code, parts[1],
            fmt::format(fmt::runtime(format), code.text(parts[1]), code.at(parts[1].begin).text)));
      });
}

/// "f(a, b)" becomes one of the two.
WildRule limit_rule(std::string name, std::size_t kept) {
  return {std::move(name), [=](const WildCode& code) {
            Changes all;
            for (std::size_t i = 2; i + 1 < code.size(); ++i) {
              if (!code.is(i, "min") && !code.is(i, "max")) continue;
              if (!code.is(i - 1, "::") || !code.is(i - 2, "std")) continue;
              std::size_t open = i + 1;
              while (open < code.size() && code.is(i + 1, "<") && !code.is(open, "(")) ++open;
              if (!code.is(open, "(") || code.partner(open) == WildCode::kNone) continue;
              const std::vector<Range> parts = code.parts(open, ",");
              if (parts.size() != 2 || parts[kept].empty()) continue;
              all.push_back(replaced(code, {i - 2, code.partner(open) + 1},
                                     fmt::format("({})", code.text(parts[kept]))));
            }
            return all;
          }};
}

constexpr std::string_view kNoCall[] = {"return", "using",  "static", "const",  "constexpr",
                                        "if",     "for",    "while",  "do",     "switch",
                                        "case",   "struct", "auto",   "throw",  "delete",
                                        "else",   "break",  "goto",   "public", "private"};

/// A call or an assignment: a name with its parts, then what a declaration does not have there.
bool acts(const WildCode& code, std::size_t i) {
  if (code.is(i, "++") || code.is(i, "--")) return true;
  if (!code.is_word(i) || std::ranges::find(kNoCall, code.at(i).text) != std::end(kNoCall))
    return false;
  while (code.is(i + 1, "::") && code.is_word(i + 2)) i += 2;
  if (i + 1 >= code.size() || code.at(i + 1).kind != Token::Kind::punctuator) return false;
  const std::string_view next = code.at(i + 1).text;
  if (next == "*" || next == "&" || next == "&&" || next == "<") return false;
  return next != ":" && next != ";" && next != "::" && next != "{";
}

Changes acting_statements(const WildCode& code) {
  Changes all;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (!code.begins_statement(i) || !acts(code, i)) continue;
    const std::size_t end = code.statement_end(i);
    if (end != WildCode::kNone) all.push_back(replaced(code, {i, end}, ";"));
  }
  return all;
}

Changes kept_buffers(const WildCode& code) {
  Changes all;
  for (std::size_t i = 0; i + 2 < code.size(); ++i)
    if (code.begins_statement(i) && code.is(i, "std") && code.is(i + 2, "vector") &&
        code.statement_end(i) != WildCode::kNone)
      all.push_back({code.at(i).place, code.at(i).place, "static "});
  return all;
}

/// The statement behind a condition that returns.
WildRule return_rule() {
  return bracket_rule("return_dropped", "if",
                      [](const WildCode& code, std::size_t open, auto& all) {
                        const std::size_t then = code.partner(open) + 1;
                        if (!code.is(then, "return")) return;
                        const std::size_t end = code.statement_end(then);
                        if (end != WildCode::kNone)
                          all.push_back(replaced(code, {then, end}, "{}"));
                      });
}

/// Words of a directive, with the brackets behind them.
WildRule clause_rule(std::string name, std::string_view word, const std::string& with) {
  return {std::move(name), [=](const WildCode& code) {
            Changes all;
            for (std::size_t i = 0; i + 1 < code.size(); ++i) {
              if (!code.is(i, word) || !code.at(i).directive) continue;
              const std::size_t close = code.is(i + 1, "(") ? code.partner(i + 1) : i;
              if (close == WildCode::kNone) continue;
              all.push_back(replaced(code, {i, close + 1}, with));
            }
            return all;
          }};
}

/// A whole line of OpenMP that says this word: the "#" alone stays.
WildRule directive_rule(std::string name, std::string_view word) {
  return {std::move(name), [=](const WildCode& code) {
            Changes all;
            for (std::size_t i = 3; i < code.size(); ++i) {
              const bool of_line = code.is(i - 3, "#") && code.is(i - 1, "omp");
              if (!of_line || !code.is(i, word)) continue;
              std::size_t end = i;
              while (end < code.size() && code.at(end).directive && !code.is(end, "#")) ++end;
              all.push_back(replaced(code, {i - 2, end}, ""));
            }
            return all;
          }};
}

/// "a ? b : c" with the other answer.
Changes choices_swapped(const WildCode& code) {
  Changes all;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (!code.is(i, "?") || code.at(i).directive) continue;
    std::size_t colon = i + 1;
    while (colon < code.size() && !code.is(colon, ":") && !code.is(colon, "?") &&
           code.around(colon) == code.around(i))
      colon = code.partner(colon) != WildCode::kNone && code.partner(colon) > colon
                  ? code.partner(colon) + 1
                  : colon + 1;
    if (!code.is(colon, ":")) continue;
    std::size_t end = colon + 1;
    while (end < code.size() && code.around(end) == code.around(i) && !code.is(end, ";") &&
           !code.is(end, ",") && !code.is(end, "?") && !code.is(end, ")") && !code.is(end, "}"))
      end = code.partner(end) != WildCode::kNone ? code.partner(end) + 1 : end + 1;
    if (code.is(end, "?") || end == colon + 1 || end >= code.size()) continue;
    all.push_back(
        replaced(code, {i + 1, end},
                 fmt::format("{} : {}", code.text({colon + 1, end}), code.text({i + 1, colon}))));
  }
  return all;
}

std::vector<WildRule> make_rules() {
  const std::pair<const char*, std::pair<const char*, const char*>> operators[] = {
      {"less_to_less_equal", {"<", "<="}},
      {"less_equal_to_less", {"<=", "<"}},
      {"greater_to_greater_equal", {">", ">="}},
      {"greater_equal_to_greater", {">=", ">"}},
      {"less_to_greater", {"<", ">"}},
      {"greater_to_less", {">", "<"}},
      {"equal_to_unequal", {"==", "!="}},
      {"unequal_to_equal", {"!=", "=="}},
      {"equal_to_less_equal", {"==", "<="}},
      {"unequal_to_greater", {"!=", ">"}},
      {"plus_to_minus", {"+", "-"}},
      {"minus_to_plus", {"-", "+"}},
      {"times_to_plus", {"*", "+"}},
      {"times_to_divided", {"*", "/"}},
      {"divided_to_times", {"/", "*"}},
      {"remainder_to_divided", {"%", "/"}},
      {"and_to_or", {"&&", "||"}},
      {"or_to_and", {"||", "&&"}},
      {"left_to_right_shift", {"<<", ">>"}},
      {"bits_and_to_or", {"&", "|"}},
      {"bits_or_to_and", {"|", "&"}}};
  const std::pair<const char*, std::pair<const char*, const char*>> words[] = {
      {"added_to_subtracted", {"+=", "-="}},        {"added_to_assigned", {"+=", "="}},
      {"multiplied_to_assigned", {"*=", "="}},      {"minimum_to_maximum", {"min", "max"}},
      {"maximum_to_minimum", {"max", "min"}},       {"int64_to_int16", {"int64_t", "int16_t"}},
      {"int32_to_int16", {"int32_t", "int16_t"}},   {"uint64_to_uint32", {"uint64_t", "uint32_t"}},
      {"size_to_uint16", {"size_t", "uint16_t"}},   {"double_to_float", {"double", "float"}},
      {"true_to_false", {"true", "false"}},         {"false_to_true", {"false", "true"}},
      {"infinity_to_largest", {"infinity", "max"}}, {"break_to_continue", {"break", "continue"}},
      {"continue_to_break", {"continue", "break"}}, {"isnan_to_isinf", {"isnan", "isinf"}},
      {"isinf_to_isnan", {"isinf", "isnan"}},       {"not_dropped", {"!", ""}}};
  std::vector<WildRule> rules;
  for (const auto& [name, change] : operators)
    rules.push_back(operator_rule(name, change.first, change.second));
  for (const auto& [name, change] : words)
    rules.push_back(token_rule(name, change.first, change.second));
  for (const auto& [name, change] :
       {std::pair{"number_up", "+ 1"}, {"number_down", "- 1"}, {"number_doubled", "* 2"}})
    rules.push_back(number_rule(name, change));
  for (const auto& [name, format] : {std::pair{"condition_negated", "!({})"},
                                     {"condition_true", "true || ({})"},
                                     {"condition_false", "false && ({})"}})
    rules.push_back(condition_rule(name, "if", format));
  rules.push_back(condition_rule("loop_condition_negated", "while", "!({})"));
  for (const auto& [name, format] : {std::pair{"loop_ends_late", "{} + 1"},
                                     {"loop_ends_early", "{} - 1"},
                                     {"loop_ends_at_1000", "{} && {} < 1000"},
                                     {"loop_ends_at_65536", "{} && {} < 65536"}})
    rules.push_back(loop_rule(name, format));
  rules.push_back(operand_rule("left_of_or_dropped", {"||"}, true));
  rules.push_back(operand_rule("right_of_or_dropped", {"||"}, false));
  rules.push_back(operand_rule("left_of_and_dropped", {"&&"}, true));
  rules.push_back(operand_rule("right_of_and_dropped", {"&&"}, false));
  rules.push_back(operand_rule("left_term_dropped", {"+"}, true));
  rules.push_back(operand_rule("right_term_dropped", {"+"}, false));
  rules.push_back(operand_rule("subtrahend_dropped", {"-"}, false));
  rules.push_back(operand_rule("left_factor_dropped", {"*"}, true));
  rules.push_back(operand_rule("right_factor_dropped", {"*", "/", "%"}, false));
  rules.push_back(limit_rule("limit_dropped", 0));
  rules.push_back(limit_rule("other_limit_dropped", 1));
  rules.push_back({"constant_to_zero",
                   each_token(is_returned_constant,
                              [](const WildCode&, std::size_t) { return std::string("0"); })});
  rules.push_back(return_rule());
  rules.push_back({"statement_dropped", acting_statements});
  rules.push_back({"int64_to_int32", each_token(is_wide, [](const WildCode&, std::size_t) {
                     return std::string("int32_t");
                   })});
  rules.push_back({"buffer_kept", kept_buffers});
  rules.push_back({"choices_swapped", choices_swapped});
  rules.push_back(clause_rule("threads_unlimited", "num_threads", ""));
  rules.push_back(clause_rule("one_thread", "num_threads", "num_threads(1)"));
  rules.push_back(clause_rule("waits_for_nobody", "for", "for nowait"));
  rules.push_back(clause_rule("reduction_dropped", "reduction", ""));
  for (const char* word : {"parallel", "barrier", "critical", "atomic", "single", "master"})
    rules.push_back(directive_rule(fmt::format("{}_dropped", word), word));
  return rules;
}

}  // namespace

std::span<const WildRule> wild_rules() {
  static const std::vector<WildRule> rules = make_rules();
  return rules;
}

}  // namespace gauntlet
