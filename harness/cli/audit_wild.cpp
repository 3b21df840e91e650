// SPDX-License-Identifier: Apache-2.0
#include <deque>
#include <fmt/format.h>

#include "harness/audit/wild.h"
#include "harness/cli/exit_codes.h"
#include "harness/cli/interrupt.h"
#include "harness/cli/progress.h"
#include "harness/cli/verbs.h"
#include "harness/cli/wild_text.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/parallel.h"
#include "harness/core/text.h"

namespace gauntlet {
namespace {

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

/// The audit of one challenge after the other, and what there is to say of them at any time.
class WildRun {
 public:
  WildRun(const Context& context, const AuditOptionsOfUser& options)
      : context_(context),
        options_(options),
        seed_(context.seed ? *context.seed : Seed::fresh()),
        display_(*context.err, context.live, context.quiet, 0) {}

  void audit(const std::string& id) {
    const std::filesystem::path& root = context_.root();
    const Challenge challenge = load_challenge(root, id);
    const AuditSuite suite = load_audit_suite(root, id, Device::cpu, grader_for(id).make());
    const auto bases = wild_bases(suite, read_solution(root / "reference" / id));
    const auto equivalents = load_equivalents(root / "graders" / id / "equivalents.yaml");
    parts_.push_back({{id, seed_, root, context_.environment.cache}, {}});
    Part& part = parts_.back();
    leave_words();
    const WildTools tools{
        [&](const auto& sources) { return assembled(context_, challenge, sources); },
        [&](const auto& requests, const auto& ended) { grade(requests, context_.jobs, ended); },
        [&](const auto& requests, const auto& ended) {
          display_.say(fmt::format("{}: {} ran out of time and are asked again, each alone", id,
                                   requests.size()));
          grade(requests, 1, ended);
        },
        [&](const WildReport& report, const WildRow* row) {
          part.report = report;
          leave_words();
          if (row) tell(part.frame, *row);
        }};
    part.report = audit_wild(challenge, wild_mutants(bases, seed_), bases, equivalents,
                             {options_.wild.value(), seed_, options_.only}, tools);
  }

  VerbResult answer(bool whole) const {
    VerbResult answer;
    answer.document = {
        {"schema", "gauntlet.audit-wild/1"}, {"partial", !whole}, {"challenges", Json::array()}};
    if (!whole) answer.text += "PARTIAL: what had been graded when it was interrupted\n";
    std::string summaries;
    for (const auto& [frame, report] : parts_) {
      answer.text += frame.challenge + "\n";
      for (const WildRow& row : report.rows)
        if (is_told(row)) answer.text += wild_row_text(frame, row, context_.style);
      for (const std::string& problem : report.problems)
        answer.text += fmt::format("  {} {}\n", painted(context_.style, Paint::bad, "BAD"),
                                   printable(problem, 1000));
      summaries += wild_summary(frame, report);
      answer.document["challenges"].push_back(wild_document(frame, report));
      if (!report.ok()) answer.exit_code = kExitGateFailed;
    }
    answer.text += summaries;
    return answer;
  }

 private:
  struct Part {
    WildFrame frame;
    WildReport report;
  };

  void grade(const std::vector<CellRequest>& requests, int jobs, const WildTools::Ended& ended) {
    LocalRunner(context_.environment, jobs)
        .grade(
            requests, [&](const CellEvent& event) { display_.show(event); },
            [&](const GradedCell& cell) { ended(cell.observation); });
  }

  /// Those that were named are all of interest; of others those that too few checks noticed.
  bool is_told(const WildRow& row) const {
    if (context_.quiet) return row.fate() == WildRow::Fate::survives;
    return !options_.only.empty() || row.fate() != WildRow::Fate::killed_by_two;
  }

  void tell(const WildFrame& frame, const WildRow& row) {
    if (!is_told(row)) return;
    keep_wild(frame, row.mutant);
    std::string text = wild_row_text(frame, row, {});
    text.pop_back();  // its last line's end
    display_.say(text);
  }

  void leave_words() const {
    const VerbResult so_far = answer(false);
    leave_last_words({fmt::format("an audit keeps nothing; with --seed {} it begins again with the "
                                  "same mutants",
                                  seed_.text()),
                      context_.json ? json_text(so_far.document) : so_far.text});
  }

  const Context& context_;
  const AuditOptionsOfUser& options_;
  const Seed seed_;
  ProgressDisplay display_;
  std::deque<Part> parts_;  // of each challenge so far
};

}  // namespace

VerbResult audit_wild_mutants(const Context& context, const std::vector<std::string>& challenges,
                              const AuditOptionsOfUser& options) {
  if (*options.wild < 1) throw UserError("--wild must be 1 or more");
  WildRun run(context, options);
  for (const std::string& id : challenges) run.audit(id);
  return run.answer(true);
}

}  // namespace gauntlet
