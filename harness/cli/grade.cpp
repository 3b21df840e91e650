// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <set>

#include "harness/cli/cell_document.h"
#include "harness/cli/exit_codes.h"
#include "harness/cli/interrupt.h"
#include "harness/cli/progress.h"
#include "harness/cli/timings.h"
#include "harness/cli/verbs.h"
#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/report/terminal/terminal_attempts.h"
#include "harness/store/reuse.h"

namespace gauntlet {
namespace {

/// The score below which --fail-under fails: "B+", "83" or "83.5".
std::optional<double> gate_of(const Rubric& rubric, const std::string& word) {
  if (word.empty()) return std::nullopt;
  std::vector<std::string> letters;
  for (const auto& band : rubric.letters) {
    if (band.letter == word) return band.at_least;
    letters.push_back(band.letter);
  }
  double score = 0;
  const char* end = word.data() + word.size();
  const auto parsed = std::from_chars(word.data(), end, score);
  if (parsed.ec != std::errc() || parsed.ptr != end || !(score >= 0 && score <= 100))
    throw UserError(fmt::format("--fail-under {}: must be a score from 0 to 100 or one of {}",
                                printable(word, 40), sentence_list(letters)));
  return score;
}

/// True where no device was named, which CellKey writes as the CPU, or this one.
bool is_meant(Device named, Device device) {
  return named == Device::cpu || named == device;
}

/// The cells of one solution that are asked for: of the standard size unless others were named.
std::vector<CellKey> asked_of(const SubmissionFolder& submission, const SolutionFolder& solution,
                              const GradeOptions& options) {
  std::vector<CellKey> keys;
  if (!is_meant(submission.device, solution.device)) return keys;
  if (!options.device.empty() && device_named(options.device) != solution.device) return keys;
  const auto add = [&](const std::string& size) {
    keys.push_back(
        {submission.name, solution.challenge, size, solution.device, submission.attempt});
  };
  if (options.challenges.empty()) add("");
  for (const std::string& word : options.challenges) {
    const CellKey named = CellKey::of("", word);
    if (named.challenge == solution.challenge && is_meant(named.device, solution.device))
      add(named.size);
  }
  return keys;
}

/// The cells that were asked for, each once.
std::vector<PlannedCell> make_plan(const Context& context, const GradeOptions& options) {
  const auto known = context.challenges();
  for (const auto& word : options.challenges)
    require_challenge(CellKey::of("", word).challenge, known);
  std::vector<PlannedCell> plan;
  std::set<CellKey> planned;
  for (const auto& word : options.submissions) {
    const SubmissionFolder submission = find_submission(context.folders(), word);
    if (!submission.is_reference()) {
      const ModelCard card = model_card_of(submission);
      context.store().claim(submission.key(), submission.folder, context.workspace);
      context.store().save_model_card(submission.key(), card);
    }
    for (const SolutionFolder& solution : solutions_of(submission, known))
      for (const CellKey& key : asked_of(submission, solution, options))
        if (planned.insert(key).second)
          plan.push_back(plan_cell(context.plan_terms(options.fresh), submission, key));
  }
  if (plan.empty())
    throw UserError(
        fmt::format("none of {} has a solution{}{}", sentence_list(options.submissions),
                    options.challenges.empty() ? "" : " to " + sentence_list(options.challenges),
                    options.device.empty() ? "" : " for " + options.device),
        kExitNothingMatched);
  return plan;
}

Json gate_document(const std::vector<std::string>& failures, const std::string& bar) {
  return {{"fail_under", bar}, {"passed", failures.empty()}, {"failures", Json(failures)}};
}

/// One line for every submission's cell that misses the bar, or may do: what could not be measured
/// opens no gate. A cell without a score misses any.
std::vector<std::string> gate_failures(const Board& board,
                                       const std::vector<CellObservation>& cells, double bar,
                                       const std::string& word) {
  std::vector<std::string> failures;
  for (const auto& cell : cells) {
    if (cell.key.submission == kReferenceName) continue;
    const CellScore& score = board.find(cell.key)->score;
    if (score.score && *score.score >= bar) continue;
    const bool may_reach = score.high && *score.high >= bar;
    failures.push_back(fmt::format(
        "{} {} {} {}", cell.key.row(), cell.key.column(), grade_text(score, ascii_signs()),
        may_reach ? fmt::format("may be as low as {}, below {}: not measured: {}",
                                points(*score.score), word, sentence_list(score.not_measured))
                  : fmt::format("is below {}", word)));
  }
  return failures;
}

/// The most useful next step: the first failure that costs most.
std::string next_step(const Board& board, const std::vector<CellObservation>& cells) {
  const CellObservation* worst = nullptr;
  std::string check;
  for (const auto& cell : cells)
    for (const Cap& cap : board.find(cell.key)->score.caps)
      if (cap.check != kBuildCap && cap.check != kOutputCap && !worst) {
        worst = &cell;
        check = cap.check;
      }
  for (const auto& cell : cells)
    for (const auto& seen : cell.checks)
      if (seen.finding && !worst) {
        worst = &cell;
        check = seen.info.id;
      }
  return worst ? show_command(worst->key.row(), worst->key.column(), check) : "./gauntlet report";
}

}  // namespace

VerbResult grade(const Context& context, const GradeOptions& options) {
  const Rubric rubric = context.rubric();
  const auto bar = gate_of(rubric, options.fail_under);
  std::vector<PlannedCell> plan = make_plan(context, options);
  std::size_t to_run = 0;
  for (const auto& cell : plan)
    if (!cell.reused) {
      ++to_run;
      context.remark(fmt::format("{} {}: {}", cell.request.key().row(), cell.request.key().column(),
                                 cell.why_run));
    }
  leave_last_words({"finished cells are kept, the same command goes on", ""});
  ProgressDisplay display(*context.err, context.live, context.quiet, to_run);
  LocalRunner runner = context.runner();
  std::vector<std::pair<CellKey, CellTimings>> timings;
  const auto cells = carry_out(
      runner, context.store(), rubric, plan, [&](const CellEvent& event) { display.show(event); },
      [&](const GradedCell& cell) { timings.emplace_back(cell.observation.key, cell.timings); });
  std::vector<std::string> columns;
  std::vector<std::string> graded;
  for (const auto& cell : cells) {
    if (!contains(columns, cell.key.column())) columns.push_back(cell.key.column());
    graded.push_back(cell.key.submission_row());
  }
  const auto shown = [&](const CellKey& key) { return contains(columns, key.column()); };
  const Board board(rubric, load_all_marked(context.store(), shown), {});

  VerbResult answer;
  answer.document = {{"schema", "gauntlet.grade/1"}, {"cells", Json::array()}};
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const BoardCell& scored = *board.find(cells[i].key);
    const bool reused = plan[i].reused.has_value();
    answer.text += terminal_cell(scored, cells[i], context.style, reused ? "(reused)" : "");
    answer.document["cells"].push_back(cell_document(rubric, scored, cells[i]));
    answer.document["cells"].back()["reused"] = reused;
    if (const auto receipt = context.store().load_receipt(cells[i].key);
        receipt && receipt->closing && !reused) {  // a reused one is for verify to read
      answer.document["cells"].back()["commitment"] = receipt->commitment;
      answer.document["cells"].back()["closing"] = closing_digest(*receipt);
    }
    if (scored.score.broken > 0 || scored.score.status == CellStatus::broken)
      answer.exit_code = worse_exit_code(answer.exit_code, kExitIncomplete);
  }
  answer.text += "\n" + terminal_matrix(rubric, board, columns, context.style) +
                 terminal_attempts(rubric, board, graded, columns, context.style);
  add_attempts(board, answer.document);
  if (options.timings) {
    answer.text += "\n" + timings_text(timings, runner.seconds_ahead());
    answer.document["timings"] = timings_document(timings, runner.seconds_ahead());
  }
  if (bar) {
    const auto failures = gate_failures(board, cells, *bar, options.fail_under);
    for (const auto& failure : failures) answer.text += "gate: " + failure + "\n";
    answer.document["gate"] = gate_document(failures, options.fail_under);
    if (!failures.empty()) answer.exit_code = worse_exit_code(answer.exit_code, kExitGateFailed);
  }
  answer.text += "Next: " + next_step(board, cells) + "\n";
  return answer;
}

}  // namespace gauntlet
