// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <set>

#include "harness/cli/cell_document.h"
#include "harness/cli/exit_codes.h"
#include "harness/cli/interrupt.h"
#include "harness/cli/progress.h"
#include "harness/cli/runners.h"
#include "harness/cli/timings.h"
#include "harness/cli/verbs.h"
#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/run/shard.h"
#include "harness/score/machine_kind.h"
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

/// At which sizes a challenge is asked for: the standard one unless some were named.
std::vector<std::string> asked_of(const std::string& id, const std::vector<std::string>& named) {
  if (named.empty()) return {id};
  std::vector<std::string> entries;
  for (const auto& entry : named)
    if (CellKey::of("", entry).challenge == id) entries.push_back(entry);
  return entries;
}

/// A cell that was asked for.
struct AskedCell {
  SubmissionFolder submission;
  CellKey key;
};

std::vector<AskedCell> asked_cells(const Context& context, const GradeOptions& options) {
  const auto known = context.challenges();
  for (const auto& word : options.challenges)
    require_challenge(CellKey::of("", word).challenge, known);
  std::vector<AskedCell> cells;
  for (const auto& word : options.submissions) {
    const SubmissionFolder submission = find_submission(context.root(), word);
    if (!submission.is_reference()) model_card_of(submission);  // which complains
    for (const auto& id : challenges_of(submission, known))
      for (const auto& entry : asked_of(id, options.challenges))
        cells.push_back({submission, cell_named(submission, entry, known)});
  }
  if (cells.empty())
    throw UserError(
        fmt::format("none of {} has a solution to {}", sentence_list(options.submissions),
                    sentence_list(options.challenges)),
        kExitNothingMatched);
  return cells;
}

/// Those of a shard, with a record beside the results of what all shards are.
void keep_shard(const Context& context, const Shard& shard, std::vector<AskedCell>& cells) {
  std::vector<CellKey> all;
  for (const AskedCell& cell : cells) all.push_back(cell.key);
  const ShardRecord record = record_of(shard, all);
  save_shard(context.results, record);
  context.remark(
      fmt::format("shard {}: {} of {} cells", shard.text(), record.cells.size(), record.planned));
  std::set<CellKey> mine(record.cells.begin(), record.cells.end());
  // Whoever is named twice is graded once.
  std::erase_if(cells, [&](const AskedCell& cell) { return mine.erase(cell.key) == 0; });
}

std::vector<PlannedCell> make_plan(const Context& context, const GradeOptions& options) {
  std::vector<AskedCell> cells = asked_cells(context, options);
  if (!options.shard.empty()) keep_shard(context, Shard::named(options.shard), cells);
  std::set<CellKey> claimed;
  std::vector<PlannedCell> plan;
  for (const AskedCell& cell : cells) {
    const SubmissionFolder& submission = cell.submission;
    if (!submission.is_reference() && claimed.insert(submission.key()).second) {
      context.store().claim(submission.key(), submission.folder, context.root());
      context.store().save_model_card(submission.key(), model_card_of(submission));
    }
    plan.push_back(plan_cell(plan_terms_for(context, options), submission, cell.key));
  }
  return plan;
}

/// Of more shards than there are cells, some have none; no machine of a matrix fails for that.
VerbResult nothing_to_grade(const GradeOptions& options) {
  return {fmt::format("Shard {} has no cells: there are fewer than shards.\n", options.shard),
          {{"schema", "gauntlet.grade/1"}, {"cells", Json::array()}, {"shard", options.shard}}};
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
  const std::unique_ptr<Runner> runner = runner_for(context, options);
  const std::vector<PlannedCell> plan = make_plan(context, options);
  if (plan.empty()) return nothing_to_grade(options);
  std::size_t to_run = 0;
  for (const auto& cell : plan)
    if (!cell.reused) {
      ++to_run;
      context.remark(fmt::format("{} {}: {}", cell.request.key().row(), cell.request.key().column(),
                                 cell.why_run));
    }
  leave_last_words({"finished cells are kept, the same command goes on", ""});
  ProgressDisplay display(*context.err, context.live, context.quiet, to_run);
  std::vector<std::pair<CellKey, CellTimings>> timings;
  const auto cells = carry_out(
      *runner, context.store(), rubric, plan, [&](const CellEvent& event) { display.show(event); },
      [&](const GradedCell& cell) { timings.emplace_back(cell.observation.key, cell.timings); });
  std::vector<std::string> columns;
  for (const auto& cell : cells)
    if (!contains(columns, cell.key.column())) columns.push_back(cell.key.column());
  const auto shown = [&](const CellKey& key) { return contains(columns, key.column()); };
  const auto on_board = load_all_marked(context.store(), shown);
  const Board board(rubric, on_board, {});

  VerbResult answer;
  answer.document = {{"schema", "gauntlet.grade/1"}, {"cells", Json::array()}};
  if (!options.shard.empty()) answer.document["shard"] = options.shard;
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
  answer.text += "\n" + terminal_matrix(rubric, board, columns, context.style);
  RacedOn raced;
  for (const auto& cell : on_board) raced.add(cell);
  if (const std::string mixed = raced.sentence(); !mixed.empty()) {
    answer.text += mixed + "\n";
    answer.document["mixed_machines"] = mixed;
  }
  if (options.timings) {
    answer.text += "\n" + timings_text(timings, runner->seconds_ahead());
    answer.document["timings"] = timings_document(timings, runner->seconds_ahead());
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
