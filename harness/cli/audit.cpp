// SPDX-License-Identifier: Apache-2.0
#include "harness/audit/audit.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/cli/exit_codes.h"
#include "harness/cli/progress.h"
#include "harness/cli/verbs.h"
#include "harness/core/error.h"
#include "harness/core/stats.h"
#include "harness/core/text.h"
#include "harness/run/submissions.h"
#include "harness/store/audit_record.h"

namespace gauntlet {
namespace {

using Kind = AuditRow::Kind;

std::string_view word_for(Kind kind) {
  switch (kind) {
    case Kind::mutant:
      return "mutant";
    case Kind::honest:
      return "honest";
    case Kind::null_solution:
      return "null";
    case Kind::reference:
      return "reference";
  }
  return "";
}

/// The named killers of a mutant and how many checks more; how many refused a null solution; every
/// check that rejected an honest one.
std::string failures_text(const AuditRow& row) {
  const auto& failed = row.failed_checks;
  if (row.kind == Kind::null_solution) return fmt::format("refused by {} checks", failed.size());
  if (row.kind != Kind::mutant) return "rejected by " + sentence_list(failed);
  std::vector<std::string> killers;
  std::size_t others = failed.size();
  for (const KillCount& count : row.named) {
    others -= static_cast<std::size_t>(std::count(failed.begin(), failed.end(), count.check));
    if (kills(count)) killers.push_back(in_words(count));
  }
  if (others > 0) killers.push_back(fmt::format("{} more", others));
  return "killed by " + sentence_list(killers);
}

std::string row_text(const AuditRow& row, const TerminalStyle& style) {
  const bool ok = row.problems.empty();
  std::string text = fmt::format("  {} {:<9} {}: {}\n",
                                 painted(style, ok ? Paint::good : Paint::bad, ok ? "ok " : "BAD"),
                                 word_for(row.kind), row.name, printable(row.note, 300));
  if (row.kind == Kind::mutant || !row.failed_checks.empty())
    text += fmt::format("      {}\n", failures_text(row));
  for (const auto& problem : row.problems)
    text += fmt::format("      {} (seed {})\n", printable(problem, 2000), row.seed.text());
  return text;
}

std::string summary(const AuditRecord& record, const AuditOptionsOfUser& options) {
  const std::string idle = record.idle_checks.empty() ? "none" : sentence_list(record.idle_checks);
  const std::size_t missed = record.missed_once();
  const std::size_t honest = record.count("honest");
  const std::size_t rejected = honest - record.right("honest");
  return fmt::format(
      "{}: {} of {} mutants killed{}, {} of {} honest runs rejected{}, {} of {} null solutions "
      "refused, {}\n",
      record.entry(), record.right("mutant"), record.count("mutant"),
      missed == 0 ? "" : fmt::format(" ({} named checks missed one with some seed)", missed),
      rejected, honest,
      honest == 0
          ? ""
          : fmt::format(" (so at most {:.2g} % are, with 95 % confidence)",
                        100 * share_at_most(static_cast<int>(rejected), static_cast<int>(honest))),
      record.right("null"), record.count("null"),
      options.brief ? "mutants met only the checks that they name"
      : options.only.empty() && !options.fewest && !options.sample
          ? "checks that killed nothing: " + idle
          : "the others were not tried");
}

AuditRecord record_of(const AuditReport& report) {
  AuditRecord record{report.challenge,
                     report.device,
                     std::string(grader_for(report.challenge).digest(report.device)),
                     {},
                     report.idle_checks,
                     {}};
  for (const auto& check : checks_of(report.challenge, report.device))
    record.checks.push_back(check.id);
  for (const auto& row : report.rows)
    record.rows.push_back({std::string(word_for(row.kind)), row.name, row.note, row.named,
                           row.failed_checks, row.problems, row.seed.text()});
  return record;
}

Json document_of(const AuditReport& report, const AuditRecord& record, bool brief) {
  Json document = to_json(record);
  document["brief"] = brief;
  document["ok"] = report.ok();
  return document;
}

AuditReport run_audit(const Context& context, const std::string& id,
                      const AuditOptionsOfUser& options) {
  ProgressDisplay display(*context.err, context.live, context.quiet, 0);
  return audit_challenge(context.environment, load_challenge(context.root(), id),
                         {context.jobs, device_named(options.device), options.seeds,
                          options.mutant_seeds, options.brief, options.fewest, options.sample,
                          options.as_graded, context.seed, options.only},
                         [&](const CellEvent& event) { display.show(event); });
}

/// Those that were named, or else all that have a grader for the device.
std::vector<std::string> audited(const Context& context, const AuditOptionsOfUser& options) {
  const auto known = context.challenges();
  for (const auto& id : options.challenges) require_challenge(id, known);
  std::vector<std::string> chosen;
  for (const auto& id : options.challenges.empty() ? known : options.challenges) {
    const std::string why_not =
        load_challenge(context.root(), id).why_not_on(device_named(options.device));
    if (why_not.empty()) chosen.push_back(id);
    if (!why_not.empty() && !options.challenges.empty()) throw UserError(why_not);
  }
  return chosen;
}

}  // namespace

VerbResult audit(const Context& context, const AuditOptionsOfUser& options) {
  if (options.attacks) return audit_attacks(context, options);
  const std::vector<std::string> challenges = audited(context, options);
  if (options.contract) return audit_contract(context, challenges);
  if (!options.only.empty() && options.challenges.size() != 1)
    throw UserError("--only names contestants of one challenge; say which by -c CHALLENGE");
  if (options.wild && options.device != name_of(Device::cpu))
    throw UserError("--wild makes mutants of C++ only; leave out --device");
  if (options.wild) return audit_wild_mutants(context, challenges, options);
  if (options.seeds.value_or(1) < 1) throw UserError("--seeds must be 1 or more");
  if (options.mutant_seeds.value_or(1) < 1) throw UserError("--mutant-seeds must be 1 or more");
  if (!options.only.empty() && !options.record.empty())
    throw UserError("--record keeps whole audits; leave out --only");
  if (options.fewest && !options.record.empty())
    throw UserError("--record keeps whole audits; leave out --fewest");
  if (options.sample && !options.record.empty())
    throw UserError("--record keeps whole audits; leave out --sample");
  VerbResult answer;
  answer.document = {{"schema", "gauntlet.audit/1"}, {"challenges", Json::array()}};
  std::string summaries;
  for (const auto& id : challenges) {
    const AuditReport report = run_audit(context, id, options);
    const AuditRecord record = record_of(report);
    answer.text += record.entry() + "\n";
    for (const auto& row : report.rows)
      if (!context.quiet || !row.problems.empty()) answer.text += row_text(row, context.style);
    summaries += summary(record, options);
    answer.document["challenges"].push_back(document_of(report, record, options.brief));
    if (!options.record.empty()) save_audit(options.record, record);
    if (!report.ok()) answer.exit_code = kExitGateFailed;
  }
  answer.text += summaries;
  return answer;
}

}  // namespace gauntlet
