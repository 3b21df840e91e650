// SPDX-License-Identifier: Apache-2.0
#include "harness/ci/gates.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/report/text/phrases.h"
#include "harness/score/machine_kind.h"

namespace gauntlet {
namespace {

using Kind = BaselineChange::Kind;

bool same_machine(const CellObservation& a, const CellObservation& b) {
  return machine_kind(a.provenance) == machine_kind(b.provenance);
}

/// Ids of checks that passed before and blame the submission now.
std::vector<std::string> newly_failed(const CellObservation& before, const CellObservation& now) {
  std::vector<std::string> ids;
  for (const CheckObservation& check : now.checks) {
    if (!blames_submission(check.verdict)) continue;
    if (check.info.section == Section::performance && !same_machine(before, now)) continue;
    const auto old =
        std::find_if(before.checks.begin(), before.checks.end(),
                     [&](const CheckObservation& other) { return other.info.id == check.info.id; });
    if (old != before.checks.end() && old->verdict == Verdict::passed) ids.push_back(check.info.id);
  }
  return ids;
}

std::string shortened_list(std::vector<std::string> ids) {
  constexpr std::size_t kMost = 5;
  const std::size_t more = ids.size() > kMost ? ids.size() - kMost : 0;
  ids.resize(ids.size() - more);
  if (more > 0) ids.push_back(fmt::format("{} more", more));
  return sentence_list(ids);
}

/// Why two observations say nothing about what the submission did; empty when they do.
std::string why_incomparable(const CiCell& cell) {
  const Provenance& old = cell.before->seen.provenance;
  const Provenance& now = cell.seen.provenance;
  if (old.grader_digest != now.grader_digest)
    return "another grader asked then; grade the baseline anew to compare";
  if (old.submission_digest == now.submission_digest)
    return "the solution is the same, so that the seed or the machine made the difference";
  return "";
}

GateAnswer min_grade(const GateRules& rules, const CiCell& cell) {
  GateAnswer answer{"min-grade " + rules.min_word, cell.seen.key, cell.main_file()};
  const CellScore& score = cell.score;
  const std::string grade = grade_text(score, ascii_signs());
  if (score.score && *score.score >= *rules.min_score) {
    answer.text = grade;
    return answer;
  }
  if (!score.score || (is_broken(score) && score.ends().high >= *rules.min_score)) {
    answer.outcome = GateOutcome::unanswered;
    answer.text = fmt::format("{}, which leaves {} open; not measured: {}", grade, rules.min_word,
                              shortened_list(score.not_measured));
    return answer;
  }
  answer.outcome = GateOutcome::failed;
  answer.text =
      score.ends().high >= *rules.min_score
          ? fmt::format("{} may be as low as {}, below {}; not measured: {}", grade,
                        points(*score.score), rules.min_word, shortened_list(score.not_measured))
          : fmt::format("{} is below {}", grade, rules.min_word);
  return answer;
}

GateAnswer no_regression(const Rubric& rubric, const CiCell& cell) {
  const BaselineChange comparison = compare_with_baseline(rubric, cell);
  GateAnswer answer{"no-regression", cell.seen.key, cell.main_file(), GateOutcome::passed,
                    comparison.text};
  if (comparison.kind == Kind::incomparable)
    answer.outcome = is_broken(cell.score) ? GateOutcome::unanswered : GateOutcome::incomparable;
  if (comparison.kind == Kind::worse) answer.outcome = GateOutcome::failed;
  return answer;
}

}  // namespace

BaselineChange compare_with_baseline(const Rubric& rubric, const CiCell& cell) {
  const std::string now = grade_text(cell.score, ascii_signs());
  if (!cell.before) return {Kind::first_time, fmt::format("{}, for the first time", now)};
  const CellScore& old = cell.before->score;
  const std::string grades = fmt::format("{} -> {}", grade_text(old, ascii_signs()), now);
  const bool same_grade = old.score && cell.score.score &&
                          old.grade.printed == cell.score.grade.printed &&
                          old.grade.letter == cell.score.grade.letter;
  if (const std::string why = why_incomparable(cell); !why.empty())
    return same_grade ? BaselineChange{Kind::same, now}
                      : BaselineChange{Kind::incomparable, fmt::format("{}: {}", grades, why)};
  // A check that fails counts against the submission whatever else is missing.
  if (const auto failed = newly_failed(cell.before->seen, cell.seen); !failed.empty())
    return {Kind::worse, fmt::format("{}: passed before: {}", grades, shortened_list(failed))};
  if (!old.score) return {Kind::incomparable, fmt::format("{}: the baseline has no score", grades)};
  const double fall = *old.score - cell.score.score.value_or(0);
  const double could_fall = *old.score - (cell.score.score ? cell.score.ends().high : 100);
  const bool fell = fall >= rubric.tie_band;
  if (fell && could_fall < rubric.tie_band && (is_broken(cell.score) || !cell.score.score))
    return {Kind::incomparable,
            fmt::format("{}: not measured: {}", grades, shortened_list(cell.score.not_measured))};
  if (fell && !same_machine(cell.before->seen, cell.seen))
    return {Kind::incomparable,
            fmt::format("{}: the baseline was measured on another machine", grades)};
  if (fell)
    return {Kind::worse, fmt::format("{}: {} points less at the low end", grades, points(fall))};
  if (-fall >= rubric.tie_band) return {Kind::better, grades};
  return {Kind::same, same_grade ? now : grades};
}

std::vector<GateAnswer> ask_gates(const GateRules& rules, const CiRun& run) {
  std::vector<GateAnswer> answers;
  for (const CiCell& cell : run.cells) {
    if (rules.min_score) answers.push_back(min_grade(rules, cell));
    if (rules.no_regression) answers.push_back(no_regression(run.rubric, cell));
  }
  if (rules.no_regression)
    for (const CiSubmission& submission : run.submissions)
      for (const CellKey& key : submission.lost)
        answers.push_back({"no-regression", key, submission.changed.folder() + "/model.yaml",
                           GateOutcome::failed,
                           "the baseline has a grade, and there is no solution any more"});
  return answers;
}

double score_of_word(const Rubric& rubric, const std::string& option, const std::string& word) {
  std::vector<std::string> letters;
  for (const auto& band : rubric.letters) {
    if (band.letter == word) return band.at_least;
    letters.push_back(band.letter);
  }
  double score = 0;
  const char* end = word.data() + word.size();
  const auto parsed = std::from_chars(word.data(), end, score);
  if (parsed.ec != std::errc() || parsed.ptr != end || !(score >= 0 && score <= 100))
    throw UserError(fmt::format("{} {}: must be a score from 0 to 100 or one of {}", option,
                                printable(word, 40), sentence_list(letters)));
  return score;
}

}  // namespace gauntlet
