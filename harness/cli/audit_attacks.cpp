// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include "harness/attacks/attack_matrix.h"
#include "harness/build/cuda_compiler.h"
#include "harness/cli/exit_codes.h"
#include "harness/cli/verbs.h"
#include "harness/core/error.h"
#include "harness/core/text.h"

namespace gauntlet {
namespace {

std::string word_for(const AttackRow& row, const AttackCell& cell) {
  if (!cell.tried) return "-";
  if (cell.bad) return row.category.empty() ? "HINDERED" : "SUCCEEDED";
  return std::string(name_of(cell.verdict)) + (cell.problem.empty() ? "" : "?");
}

std::string word_for_control(const AttackCell& control) {
  if (!control.tried) return "-";
  return control.bad ? "FAILED" : "succeeded";
}

std::string matrix_text(const AttackMatrix& report, const TerminalStyle& style) {
  std::string text = fmt::format("{:<26} {:<38}", "program", "class");
  for (const Tier& tier : report.tiers)
    if (tier.why_not.empty()) text += fmt::format(" {:<16}", tier.name);
  text += " without its walls\n";
  for (const AttackRow& row : report.rows) {
    text += fmt::format("{:<26} {:<38}", row.name, row.category.empty() ? "honest" : row.category);
    for (const AttackCell& cell : row.cells)
      text += ' ' + painted(style, cell.problem.empty() ? Paint::good : Paint::bad,
                            fmt::format("{:<16}", word_for(row, cell)));
    text += ' ' + painted(style, row.control.bad ? Paint::bad : Paint::good,
                          word_for_control(row.control));
    text += '\n';
    for (const AttackCell& cell : row.cells)
      if (!cell.problem.empty()) text += fmt::format("    {}\n", printable(cell.problem, 500));
    if (row.control.bad) text += fmt::format("    {}\n", printable(row.control.problem, 500));
  }
  return text;
}

std::string summary(const AttackMatrix& report) {
  std::string text;
  for (const Tier& tier : report.tiers)
    if (!tier.why_not.empty()) text += fmt::format("not tried: {}: {}\n", tier.name, tier.why_not);
  const auto tiers = std::count_if(report.tiers.begin(), report.tiers.end(),
                                   [](const Tier& tier) { return tier.why_not.empty(); });
  if (report.trials(true) < report.attacks() * tiers)
    text += "-: no wall stops it, so that it was tried on the tier with the fewest alone\n";
  return text + fmt::format(
                    "{} attacks of {} classes on {} tiers: {} of {} succeeded\n"
                    "without the walls that stop them: {} of {} succeeded\n"
                    "{} honest programs: {} of {} false alarms\ntook {:.0f} s\n",
                    report.attacks(), report.classes(), tiers, report.successes(),
                    report.trials(true), report.controls() - report.harmless(), report.controls(),
                    report.honest(), report.false_alarms(), report.trials(false), report.seconds);
}

/// Only these programs.
void choose(AttackCorpus& corpus, std::vector<std::string> only) {
  const auto is_other = [&](const auto& program) { return std::erase(only, program.name) == 0; };
  std::erase_if(corpus.attacks, is_other);
  std::erase_if(corpus.honest, is_other);
  if (!only.empty())
    throw UserError(fmt::format("no attack and no honest program is called {}: see tests/attacks",
                                sentence_list(only)));
}

/// Where nothing compiles CUDA; says so.
std::string leave_out_cuda(AttackCorpus& corpus) {
  const auto is_cuda = [](const auto& program) { return program.device == Device::cuda; };
  return fmt::format("not tried here: {} programs for CUDA: {}\n",
                     std::erase_if(corpus.attacks, is_cuda) + std::erase_if(corpus.honest, is_cuda),
                     kNoCudaCompiler);
}

Json document_of(const AttackMatrix& report) {
  Json document{{"schema", "gauntlet.audit-attacks/1"},
                {"ok", report.ok()},
                {"attacks", report.attacks()},
                {"classes", report.classes()},
                {"honest", report.honest()},
                {"succeeded", report.successes()},
                {"controls", report.controls()},
                {"harmless", report.harmless()},
                {"false_alarms", report.false_alarms()},
                {"seconds", report.seconds},
                {"tiers", Json::array()},
                {"rows", Json::array()}};
  for (const Tier& tier : report.tiers)
    document["tiers"].push_back(
        {{"name", tier.name}, {"available", tier.why_not.empty()}, {"why_not", tier.why_not}});
  for (const AttackRow& row : report.rows) {
    const auto in_words = [](const AttackCell& cell) {
      return cell.tried ? Json{{"verdict", name_of(cell.verdict)},
                               {"bad", cell.bad},
                               {"problem", cell.problem}}
                        : Json();
    };
    Json cells = Json::array();
    for (const AttackCell& cell : row.cells) cells.push_back(in_words(cell));
    document["rows"].push_back({{"name", row.name},
                                {"class", row.category},
                                {"note", row.note},
                                {"cells", std::move(cells)},
                                {"control", in_words(row.control)}});
  }
  return document;
}

}  // namespace

VerbResult audit_attacks(const Context& context, const AuditOptionsOfUser& options) {
  AttackCorpus corpus = load_attacks(context.root());
  if (!options.only.empty()) choose(corpus, options.only);
  std::string left_out;
  if (!find_cuda_compiler()) left_out = leave_out_cuda(corpus);
  const AttackMatrix report = run_attacks(context.environment, corpus, options.brief,
                                          [&](const std::string& text) { context.remark(text); });
  VerbResult answer;
  answer.text = matrix_text(report, context.style) + left_out + summary(report);
  answer.document = document_of(report);
  if (!report.ok()) answer.exit_code = kExitGateFailed;
  return answer;
}

}  // namespace gauntlet
