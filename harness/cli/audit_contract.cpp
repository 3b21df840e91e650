// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "harness/audit/contract_trace.h"
#include "harness/cli/exit_codes.h"
#include "harness/cli/verbs.h"
#include "harness/core/text.h"

namespace gauntlet {
namespace {

using Asked = ContractStatement::Asked;

constexpr std::size_t kShownWords = 72;  // characters of a statement

std::string_view word_for(Asked asked) {
  switch (asked) {
    case Asked::wholly:
      return "asked";
    case Asked::in_part:
      return "in part";
    case Asked::not_at_all:
      return "not asked";
  }
  return "";
}

Paint paint_for(Asked asked) {
  if (asked == Asked::wholly) return Paint::good;
  return asked == Asked::in_part ? Paint::fair : Paint::dim;
}

std::string shortened(const std::string& words) {
  const std::string whole = one_line(words);
  return whole.size() <= kShownWords ? whole : one_line(words, kShownWords - 4) + " ...";
}

std::string statement_text(const ContractStatement& one, std::size_t number,
                           const TerminalStyle& style) {
  const std::string asked = fmt::format("{:<9}", word_for(one.asked()));
  std::string text =
      fmt::format("{:>5}  {}  {}\n", number, painted(style, paint_for(one.asked()), asked), one.id);
  const auto add = [&](const std::string& what, const std::string& value) {
    text += fmt::format("       {:<9}  {}\n", what, value);
  };
  add(fmt::format("line {}", one.line), shortened(one.says));
  if (!one.checks.empty()) add("checks", sentence_list(one.checks));
  if (!one.mutants.empty()) add("mutants", sentence_list(one.mutants));
  if (!one.not_asked.empty()) add("not asked", one.not_asked);
  return text;
}

std::string trace_text(const ContractTrace& trace, const Context& context) {
  std::string text;
  std::size_t number = 0;
  for (const ContractStatement& one : trace.statements) {
    ++number;
    if (!context.quiet || one.asked() != Asked::wholly)
      text += statement_text(one, number, context.style);
  }
  for (const std::string& problem : trace.problems)
    text += fmt::format("  {} {}\n", painted(context.style, Paint::bad, "BAD"), problem);
  return text;
}

std::string summary(const std::string& challenge, const ContractTrace& trace) {
  if (trace.statements.empty()) return fmt::format("{}: not traced yet\n", challenge);
  return fmt::format(
      "{}: {} statements: {} asked and broken, {} in part, {} not asked{}\n", challenge,
      trace.statements.size(), trace.count(Asked::wholly), trace.count(Asked::in_part),
      trace.count(Asked::not_at_all),
      trace.problems.empty() ? "" : fmt::format("; problems: {}", trace.problems.size()));
}

Json document_of(const std::string& challenge, const ContractTrace& trace) {
  Json document{{"challenge", challenge},
                {"ok", trace.problems.empty()},
                {"problems", trace.problems},
                {"statements", Json::array()}};
  for (const ContractStatement& one : trace.statements)
    document["statements"].push_back({{"number", document["statements"].size() + 1},
                                      {"id", one.id},
                                      {"line", one.line},
                                      {"says", one.says},
                                      {"asked", word_for(one.asked())},
                                      {"checks", one.checks},
                                      {"mutants", one.mutants},
                                      {"not_asked", one.not_asked}});
  return document;
}

}  // namespace

VerbResult audit_contract(const Context& context, const std::vector<std::string>& challenges) {
  VerbResult answer;
  answer.document = {{"schema", "gauntlet.audit-contract/1"}, {"challenges", Json::array()}};
  std::string summaries;
  for (const std::string& id : challenges) {
    const ContractTrace trace = trace_contract(context.root(), id, grader_for(id).make());
    answer.text += id + "\n" + trace_text(trace, context);
    summaries += summary(id, trace);
    answer.document["challenges"].push_back(document_of(id, trace));
    if (!trace.problems.empty()) answer.exit_code = kExitGateFailed;
  }
  answer.text += summaries;
  return answer;
}

}  // namespace gauntlet
