// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "harness/audit/wild.h"
#include "harness/cli/exit_codes.h"
#include "harness/cli/progress.h"
#include "harness/cli/verbs.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/parallel.h"
#include "harness/core/text.h"

namespace gauntlet {
namespace {

using Row = WildReport::Row;

/// Compiles them, `jobs` at a time.
std::vector<std::string> assembled(const Context& context, const Challenge& challenge,
                                   const std::vector<const SolutionSource*>& sources) {
  context.remark(fmt::format("{}: compiling {} solutions", challenge.id, sources.size()));
  std::vector<std::string> codes(sources.size());
  parallel_for(sources.size(), context.jobs, [&](std::size_t i) {
    const BuiltSolution built = build_assembly(*sources[i], challenge, context.environment.cache);
    if (built.record.ok) codes[i] = read_file(built.library);
  });
  return codes;
}

WildReport run_wild(const Context& context, const std::string& id, int wanted, const Seed& seed) {
  const std::filesystem::path& root = context.root();
  const Challenge challenge = load_challenge(root, id);
  const AuditSuite suite = load_audit_suite(root, id, grader_for(id).make());
  const auto bases = wild_bases(suite, read_solution(root / "reference" / id));
  const auto equivalents = load_equivalents(root / "graders" / id / "equivalents.yaml");
  ProgressDisplay display(*context.err, context.live, context.quiet, 0);
  const WildTools tools{[&](const auto& sources) { return assembled(context, challenge, sources); },
                        [&](const auto& requests) {
                          return context.runner().grade(
                              requests, [&](const CellEvent& event) { display.show(event); });
                        }};
  return audit_wild(challenge, wild_mutants(bases, seed), bases, equivalents, wanted, seed, tools);
}

std::string fate_of(const Row& row) {
  if (!row.killer.empty()) return "one check";
  return row.equivalent.empty() ? "survives" : "equivalent";
}

Paint paint_for(const Row& row) {
  if (!row.killer.empty()) return Paint::fair;
  return row.equivalent.empty() ? Paint::bad : Paint::dim;
}

std::string row_text(const Row& row, const TerminalStyle& style) {
  const WildMutant& mutant = row.mutant;
  std::string text = fmt::format("  {} {}:{} {}", painted(style, paint_for(row), fate_of(row)),
                                 mutant.file, mutant.site.line, mutant.rule);
  if (mutant.site.place > 1) text += fmt::format(", place {}", mutant.site.place);
  if (!row.killer.empty()) text += ", killed by " + row.killer;
  text += fmt::format("\n    - {}\n    + {}\n", printable(mutant.site.before, 500),
                      printable(mutant.site.after, 500));
  if (!row.equivalent.empty()) text += fmt::format("    {}\n", row.equivalent);
  return text;
}

std::string summary(const std::string& challenge, const WildReport& report, const Seed& seed) {
  return fmt::format(
      "{}: {} wild mutants graded: {} killed by two checks, {} by one, {} survived, {} cannot be "
      "noticed; of {} drawn {} did not compile and {} were the same code (seed {})\n",
      challenge, report.graded, report.killed_by_two, report.count_killed_by_one(),
      report.count_survivors(), report.count_equivalent(), report.drawn, report.not_built,
      report.same_code, seed.text());
}

Json document_of(const std::string& challenge, const WildReport& report, const Seed& seed) {
  Json document{{"challenge", challenge},
                {"seed", seed.text()},
                {"ok", report.ok()},
                {"drawn", report.drawn},
                {"not_built", report.not_built},
                {"same_code", report.same_code},
                {"graded", report.graded},
                {"killed_by_two", report.killed_by_two},
                {"killed_by_one", report.count_killed_by_one()},
                {"survived", report.count_survivors()},
                {"equivalent", report.count_equivalent()},
                {"problems", report.problems},
                {"mutants", Json::array()}};
  for (const Row& row : report.rows)
    document["mutants"].push_back({{"file", row.mutant.file},
                                   {"line", row.mutant.site.line},
                                   {"rule", row.mutant.rule},
                                   {"before", row.mutant.site.before},
                                   {"after", row.mutant.site.after},
                                   {"place", row.mutant.site.place},
                                   {"variant", row.mutant.variant},
                                   {"fate", fate_of(row)},
                                   {"killer", row.killer},
                                   {"reason", row.equivalent}});
  return document;
}

}  // namespace

VerbResult audit_wild_mutants(const Context& context, const std::vector<std::string>& challenges,
                              int wanted) {
  if (wanted < 1) throw UserError("--wild must be 1 or more");
  VerbResult answer;
  answer.document = {{"schema", "gauntlet.audit-wild/1"}, {"challenges", Json::array()}};
  std::string summaries;
  const Seed seed = context.seed ? *context.seed : Seed::fresh();
  for (const std::string& id : challenges) {
    const WildReport report = run_wild(context, id, wanted, seed);
    answer.text += id + "\n";
    for (const Row& row : report.rows)
      if (!context.quiet || fate_of(row) == "survives") answer.text += row_text(row, context.style);
    for (const std::string& problem : report.problems)
      answer.text += fmt::format("  {} {}\n", painted(context.style, Paint::bad, "BAD"),
                                 printable(problem, 1000));
    summaries += summary(id, report, seed);
    answer.document["challenges"].push_back(document_of(id, report, seed));
    if (!report.ok()) answer.exit_code = kExitGateFailed;
  }
  answer.text += summaries;
  return answer;
}

}  // namespace gauntlet
