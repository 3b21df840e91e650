// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <set>

#include "harness/build/toolchain.h"
#include "harness/ci/annotations.h"
#include "harness/ci/gates.h"
#include "harness/ci/junit.h"
#include "harness/ci/sarif.h"
#include "harness/ci/step_summary.h"
#include "harness/cli/cell_document.h"
#include "harness/cli/checkout_history.h"
#include "harness/cli/interrupt.h"
#include "harness/cli/progress.h"
#include "harness/cli/report_input.h"
#include "harness/cli/validation.h"
#include "harness/cli/verbs.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/text.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

constexpr const char* kDocuments[]{"ci.json", "junit.xml", "summary.md", "annotations.txt",
                                   "findings.sarif"};

/// A cell that is to be graded, and of which submission it is.
struct Planned {
  PlannedCell cell;
  std::size_t submission = 0;  // its place among those of the run
  std::string folder;
  std::vector<std::string> files;
};

/// One run of the verb, step by step.
class Job {
 public:
  Job(const Context& context, const CiOptions& options) : context_(context), options_(options) {
    run_.rubric = context.rubric();
    run_.version = context.environment.version;
    run_.base = options.base;
    if (!options.min_grade.empty())
      rules_.min_score = score_of_word(run_.rubric, "--min-grade", options.min_grade);
    rules_.min_word = options.min_grade;
    rules_.no_regression = options.no_regression;
    known_ = context.challenges();
    for (const std::string& id : options.challenges) require_challenge(id, known_);
  }

  CiRun carry_out_all() {
    find_submissions();
    load_baseline();
    for (std::size_t i = 0; i < run_.submissions.size(); ++i) prepare(i);
    grade();
    run_.gates = ask_gates(rules_, run_);
    return std::move(run_);
  }

 private:
  void find_submissions() {
    if (!options_.base.empty()) {
      history_.emplace(context_.workspace, options_.base);
      ChangedFiles changed = history_->changes();
      run_.base_id = history_->fork_point();
      run_.outside = changed.outside;
      for (ChangedSubmission& one : changed.submissions) {
        found_.insert(one.generation());
        run_.submissions.push_back({one});
      }
    }
    if (options_.all) add_unchanged();
  }

  void add_unchanged() {
    for (const std::string& name : submission_names(context_.workspace)) {
      add_unless_there(name, "1");
      for (const std::string& attempt :
           folder_names(context_.workspace / "submissions" / name / "attempts"))
        add_unless_there(name, attempt);
    }
  }

  void add_unless_there(const std::string& name, const std::string& attempt) {
    const ChangedSubmission one{name, attempt, SubmissionChange::unchanged};
    if (found_.insert(one.generation()).second) run_.submissions.push_back({one});
  }

  void load_baseline() {
    const ScratchFolder extracted("baseline");
    fs::path folder = options_.baseline;
    if (!folder.empty()) {
      if (fs::is_directory(folder / "data")) folder /= "data";
      if (!fs::is_directory(folder))
        throw UserError(
            fmt::format("--baseline {}: is no folder; give one as reports/ or its "
                        "data/, which ./gauntlet report writes",
                        one_line(folder.string(), 400)));
      run_.baseline = options_.baseline.string();
    } else if (history_ && history_->extract("reports/data", extracted.path()) > 0) {
      folder = extracted.path();
      run_.baseline = "reports/data of " + options_.base;
    }
    if (!folder.empty())
      for (PublishedCell& cell : ReportData(folder).load())
        if (!cell.grade.empty())
          baseline_[cell.seen.key.generation()].push_back(std::move(cell.seen));
    if (baseline_.empty()) {
      run_.baseline = run_.baseline.empty() ? "none" : run_.baseline + ", which has no grades";
      if (rules_.no_regression)
        context_.remark("--no-regression: there is no baseline, so that nothing can be worse");
    }
  }

  bool is_asked(const std::string& id) const {
    return options_.challenges.empty() || contains(options_.challenges, id);
  }

  SubmissionFolder folder_of(const ChangedSubmission& changed) const {
    const fs::path folder = context_.workspace / changed.folder();
    // Each part in turn: a link could lead to somebody else's solutions.
    fs::path part = context_.workspace;
    for (const fs::path& name : fs::path(changed.folder())) {
      part /= name;
      if (fs::is_symlink(part))
        throw UserError(
            fmt::format("{}: is a link; a submission is a folder", one_line(part.string(), 400)),
            kExitInvalidSubmission);
    }
    if (const std::string why = why_not_called(changed.name); !why.empty())
      throw UserError(fmt::format("{}: {}", one_line(folder.string(), 400), why),
                      kExitInvalidSubmission);
    return find_submission(context_.folders(), changed.generation());
  }

  /// Validates one submission and plans its cells. What is wrong with it is its own problem and
  /// keeps no other from being graded.
  void prepare(std::size_t place) {
    CiSubmission& one = run_.submissions[place];
    if (one.changed.change == SubmissionChange::removed) return;
    std::vector<Planned> planned;
    try {
      const SubmissionFolder submission = folder_of(one.changed);
      one.problems = inspect_submission(context_, submission).problems;
      if (!one.problems.empty()) return;
      const std::vector<SolutionFolder> solutions = solutions_of(submission, known_);
      for (const SolutionFolder& solution : solutions)
        if (is_asked(solution.challenge)) planned.push_back(plan(submission, solution, place));
      one.lost = lost_cells(one.changed, solutions);
      if (planned.empty()) return;
      context_.store().claim(submission.key(), submission.folder, context_.workspace);
      context_.store().save_model_card(submission.key(), model_card_of(submission));
    } catch (const UserError& error) {
      // Of a name that a stranger chose, "#x" for an attempt, any complaint is about the stranger.
      if (error.exit_code != kExitInvalidSubmission && is_plain_attempt(one.changed)) throw;
      one.problems.emplace_back(error.what());
      return;
    }
    for (Planned& cell : planned) plan_.push_back(std::move(cell));
  }

  static bool is_plain_attempt(const ChangedSubmission& changed) {
    return changed.attempt.find_first_not_of("0123456789") == std::string::npos &&
           changed.attempt.size() <= 3 && changed.attempt.front() != '0';
  }

  Planned plan(const SubmissionFolder& submission, const SolutionFolder& solution,
               std::size_t place) {
    CellKey key = submission.key();
    key.challenge = solution.challenge;
    key.device = solution.device;
    const std::string folder = solution.folder.filename();
    Planned planned{plan_cell(context_.plan_terms(options_.fresh), submission, key),
                    place,
                    run_.submissions[place].changed.folder() + "/" + folder,
                    {}};
    const std::string_view first = toolchain(solution.device).first_file;
    planned.files.emplace_back(first);
    for (const SolutionSource::File& file : planned.cell.request.solution.files)
      if (file.name != first) planned.files.push_back(file.name);
    return planned;
  }

  /// Cells of the baseline to which the submission, which is still there, has no solution.
  std::vector<CellKey> lost_cells(const ChangedSubmission& changed,
                                  const std::vector<SolutionFolder>& solutions) const {
    const auto is_there = [&](const CellKey& key) {
      return std::ranges::any_of(solutions, [&](const SolutionFolder& one) {
        return one.challenge == key.challenge && one.device == key.device;
      });
    };
    std::vector<CellKey> lost;
    for (const CellObservation& cell : baseline_of(changed))
      if (cell.key.is_standard() && !is_there(cell.key) && is_asked(cell.key.challenge))
        lost.push_back(cell.key);
    return lost;
  }

  /// What the baseline has of it, under its former name if that is another one.
  const std::vector<CellObservation>& baseline_of(const ChangedSubmission& changed) const {
    static const std::vector<CellObservation> none;
    const auto found =
        baseline_.find(changed.renamed_from.empty() ? changed.generation() : changed.renamed_from);
    return found == baseline_.end() ? none : found->second;
  }

  void grade() {
    if (plan_.empty()) return;
    std::vector<PlannedCell> cells;
    std::size_t to_run = 0;
    for (const Planned& planned : plan_) {
      cells.push_back(planned.cell);
      to_run += planned.cell.reused ? 0 : 1;
    }
    leave_last_words({"finished cells are kept, the same command goes on", ""});
    ProgressDisplay display(*context_.err, context_.live, context_.quiet, to_run);
    LocalRunner runner = context_.runner();
    try {
      const auto seen = carry_out(runner, context_.store(), run_.rubric, cells,
                                  [&](const CellEvent& event) { display.show(event); });
      for (std::size_t i = 0; i < seen.size(); ++i) add_cell(plan_[i], seen[i]);
    } catch (const Broken& error) {
      run_.fault = error.what();
    }
  }

  void add_cell(const Planned& planned, const CellObservation& seen) {
    CiCell cell{seen, score_cell(run_.rubric, seen), planned.folder, planned.files, std::nullopt};
    for (const CellObservation& old : baseline_of(run_.submissions[planned.submission].changed))
      if (old.key.column() == seen.key.column() && old.key.device == seen.key.device)
        cell.before = ScoredCell{old, score_cell(run_.rubric, old)};
    run_.cells.push_back(std::move(cell));
  }

  const Context& context_;
  const CiOptions& options_;
  GateRules rules_;
  std::vector<std::string> known_;
  std::optional<CheckoutHistory> history_;
  std::map<std::string, std::vector<CellObservation>> baseline_;  // by CellKey::generation()
  std::set<std::string> found_;  // generations among the run's submissions
  std::vector<Planned> plan_;
  CiRun run_;
};

std::string_view word_of(GateOutcome outcome) {
  switch (outcome) {
    case GateOutcome::passed:
      return "passed";
    case GateOutcome::failed:
      return "failed";
    case GateOutcome::incomparable:
      return "incomparable";
    case GateOutcome::unanswered:
      return "unanswered";
  }
  return "";
}

Json submission_document(const CiSubmission& one) {
  Json document{{"submission", one.changed.generation()},
                {"change", name_of(one.changed.change)},
                {"folder", one.changed.folder()},
                {"problems", Json(one.problems)},
                {"lost", Json::array()}};
  if (!one.changed.renamed_from.empty()) document["renamed_from"] = one.changed.renamed_from;
  for (const CellKey& key : one.lost) document["lost"].push_back(key.text());
  return document;
}

Json document_of(const CiRun& run) {
  Json document{{"schema", "gauntlet.ci/1"},      {"verdict", run.verdict()},
                {"exit_code", exit_code_of(run)}, {"base", run.base},
                {"merge_base", run.base_id},      {"baseline", run.baseline},
                {"outside", run.outside},         {"fault", run.fault}};
  for (const char* list : {"submissions", "cells", "gates"}) document[list] = Json::array();
  for (const CiSubmission& one : run.submissions)
    document["submissions"].push_back(submission_document(one));
  for (const CiCell& cell : run.cells) {
    Json one = cell_document(run.rubric, {cell.score, std::nullopt}, cell.seen);
    one["folder"] = cell.folder;
    if (cell.before) one["before"] = grade_text(cell.before->score, ascii_signs());
    one["since"] = compare_with_baseline(run.rubric, cell).text;
    document["cells"].push_back(one);
  }
  for (const GateAnswer& gate : run.gates)
    document["gates"].push_back({{"rule", gate.rule},
                                 {"cell", gate.key.text()},
                                 {"outcome", word_of(gate.outcome)},
                                 {"text", gate.text}});
  return document;
}

std::string text_of(const CiRun& run, const TerminalStyle& style) {
  std::string text;
  for (const CiSubmission& one : run.submissions) {
    text += fmt::format("{} {}\n", one_line(one.changed.generation(), 100),
                        one.problems.empty() ? name_of(one.changed.change) : "INVALID");
    for (const std::string& problem : one.problems) text += "  " + one_line(problem) + "\n";
  }
  for (const CiCell& cell : run.cells)
    text += terminal_cell(
        {cell.score, std::nullopt}, cell.seen, style,
        cell.before ? fmt::format("({})", compare_with_baseline(run.rubric, cell).text) : "(new)");
  for (const GateAnswer& gate : run.gates)
    if (gate.outcome != GateOutcome::passed)
      text += fmt::format("gate {} {}: {}: {}\n", gate.rule, word_of(gate.outcome), gate.key.text(),
                          one_line(gate.text));
  if (!run.fault.empty()) text += "the grader cannot work here: " + one_line(run.fault) + "\n";
  return text + run.verdict() + "\n";
}

void write_documents(const CiRun& run, const Json& document, const fs::path& out) {
  write_file(out / "ci.json", json_text(document));
  write_file(out / "junit.xml", junit_xml(run));
  write_file(out / "summary.md", step_summary(run));
  write_file(out / "annotations.txt", annotations(run));
  write_file(out / "findings.sarif", json_text(sarif(run)));
}

/// Steps of one job share the file, so that what others wrote stays.
void append(const fs::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::app);
  out << text << std::flush;
  if (!out)
    throw UserError(fmt::format("cannot append the summary to {}, which GITHUB_STEP_SUMMARY names",
                                one_line(file.string(), 400)));
}

}  // namespace

VerbResult ci(const Context& context, const CiOptions& options) {
  if (options.base.empty() && !options.all)
    throw UserError(
        "ci needs --base REF, the branch that a change goes to (origin/main), or --all for every "
        "submission");
  for (const char* document : kDocuments) fs::remove(options.out / document);  // of another run
  const CiRun run = Job(context, options).carry_out_all();
  VerbResult answer;
  answer.exit_code = exit_code_of(run);
  answer.document = document_of(run);
  write_documents(run, answer.document, options.out);
  if (!options.step_summary.empty()) append(options.step_summary, step_summary(run));
  answer.text = text_of(run, context.style);
  answer.text += fmt::format("Documents: {}\n", one_line(options.out.string(), 400));
  if (!options.in_github) return answer;
  // The runner reads commands in either stream; the answer of --json has room for none.
  answer.text = without_commands(answer.text) + annotations(run);
  if (context.json) *context.err << annotations(run) << std::flush;
  return answer;
}

}  // namespace gauntlet
