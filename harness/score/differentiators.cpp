// SPDX-License-Identifier: Apache-2.0
#include "harness/score/differentiators.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "harness/score/attempt_mean.h"
#include "harness/score/column_records.h"

namespace gauntlet {
namespace {

using Column = std::vector<const CellObservation*>;  // one challenge, one device

struct Shares {
  std::vector<double> earned;
  int passed = 0;
};

const CheckObservation* find_check(const CellObservation& cell, const std::string& id) {
  for (const auto& check : cell.checks)
    if (check.info.id == id) return &check;
  return nullptr;
}

Shares shares_of(const Rubric& rubric, const Column& column, const std::string& id) {
  Shares shares;
  for (const auto* cell : column) {
    const CheckObservation* check = find_check(*cell, id);
    if (!check) continue;
    const auto earned = earned_share(rubric, *check);
    if (!earned) continue;
    shares.earned.push_back(*earned);
    if (check->verdict == Verdict::passed) ++shares.passed;
  }
  return shares;
}

double spread_of(const std::vector<double>& shares) {
  const auto count = static_cast<double>(shares.size());
  const double half = std::floor(count / 2);
  if (half == 0) return 0;
  double sum = 0;
  double squares = 0;
  for (const double share : shares) sum += share;
  for (const double share : shares) squares += (share - sum / count) * (share - sum / count);
  return squares / (half * (count - half) / count);
}

/// A column of scores: what its places and winners would be.
struct Outcome {
  std::vector<CellScore> attempts;           // of the cells
  std::vector<std::string> submissions;      // rows of the board
  std::vector<CellScore> scores;             // theirs
  std::vector<std::optional<Place>> places;  // theirs; none without a score

  Outcome(const Rubric& rubric, const Board& board, const Column& column,
          const std::string& left_out) {
    std::map<std::string, std::vector<const CellScore*>> together;
    for (const auto* cell : column) attempts.push_back(score_without(rubric, *cell, left_out));
    for (const CellScore& score : attempts) together[board.submission(score.key)].push_back(&score);
    for (const auto& [submission, of] : together) {
      submissions.push_back(submission);
      scores.push_back(of.size() == 1 ? *of.front() : mean_of(rubric, of));
    }
    std::vector<const CellScore*> graded;
    for (const CellScore& score : scores)
      if (score.score) graded.push_back(&score);
    const auto of_graded = column_places(rubric, graded);
    places.resize(scores.size());
    for (std::size_t i = 0, next = 0; i < scores.size(); ++i)
      if (scores[i].score) places[i] = of_graded[next++];
  }
};

/// `as_is` is the outcome of the column with everything that was asked.
double stake_of(const Rubric& rubric, const Column& column, const Outcome& as_is,
                const std::string& id) {
  std::vector<double> lost;
  for (std::size_t i = 0; i < column.size(); ++i) {
    const CheckObservation* check = find_check(*column[i], id);
    if (!check || !as_is.attempts[i].score || !earned_share(rubric, *check)) continue;
    const auto earned = score_assuming(rubric, *column[i], {.gained = id}).score;
    lost.push_back(earned.value_or(0) - *as_is.attempts[i].score);
  }
  const auto [least, most] = std::minmax_element(lost.begin(), lost.end());
  return lost.empty() ? 0 : *most - *least;
}

bool same(const std::optional<Place>& a, const std::optional<Place>& b) {
  return a.has_value() == b.has_value() &&
         (!a || (a->number == b->number && a->shared == b->shared));
}

void count_changes(const Rubric& rubric, const Outcome& as_is, const Outcome& without,
                   Differentiator& found) {
  for (std::size_t i = 0; i < as_is.places.size(); ++i)
    if (!same(as_is.places[i], without.places[i])) ++found.places;
  found.winners = static_cast<int>(changed_winners(rubric, as_is.scores, without.scores));
}

/// Who leads the means of a device's submissions that were graded everywhere, when the scores of
/// one challenge are others.
class Lead {
 public:
  explicit Lead(const Board& board) {
    for (const auto& submission : board.submissions()) {
      const auto mean = board.mean(submission);
      if (is_reference_row(submission) || !mean || mean->graded < mean->of) continue;
      means_[submission] = *mean;
    }
  }

  std::string leader(const Outcome& as_is, const Outcome& now) const {
    const std::pair<const std::string, double>* best = nullptr;
    std::map<std::string, double> means;
    for (std::size_t i = 0; i < as_is.scores.size(); ++i) {
      const auto known = means_.find(as_is.submissions[i]);
      if (known == means_.end() || !now.scores[i].score) continue;
      means[known->first] =
          known->second.score + (*now.scores[i].score - *as_is.scores[i].score) / known->second.of;
    }
    for (const auto& mean : means)
      if (!best || mean.second > best->second) best = &mean;
    return best ? best->first : "";
  }

 private:
  std::map<std::string, Mean> means_;
};

void survey_column(const Rubric& rubric, const Board& board, const Lead& lead, const Column& column,
                   CheckSurvey& survey) {
  const Outcome as_is(rubric, board, column, "");
  std::map<std::string, CheckInfo> checks;
  for (const auto* cell : column)
    for (const auto& check : cell->checks) checks.emplace(check.info.id, check.info);
  for (const auto& [id, info] : checks) {
    const Shares shares = shares_of(rubric, column, id);
    const auto measured = static_cast<int>(shares.earned.size());
    if (measured < 2) continue;
    Differentiator found{column.front()->key.column(), column.front()->key.device, info,
                         shares.passed, measured};
    found.spread = spread_of(shares.earned);
    if (found.spread > 0) {
      found.stake = stake_of(rubric, column, as_is, id);
      const Outcome without(rubric, board, column, id);
      count_changes(rubric, as_is, without, found);
      found.first = lead.leader(as_is, as_is) != lead.leader(as_is, without);
      survey.differentiators.push_back(found);
    } else if (shares.passed == 0) {
      survey.failed_by_all.push_back(found);
    } else if (shares.earned.front() == 1) {
      ++survey.passed_by_all;
    }
  }
}

}  // namespace

CheckSurvey survey_checks(const Rubric& rubric, const Board& board,
                          const std::vector<CellObservation>& cells) {
  std::map<std::tuple<std::string, Device>, Column> columns;
  for (const auto& cell : cells) {
    const bool counts = std::find(board.challenges().begin(), board.challenges().end(),
                                  cell.key.column()) != board.challenges().end();
    if (counts && cell.key.submission != kReferenceName)
      columns[{cell.key.column(), cell.key.device}].push_back(&cell);
  }
  const Lead lead(board);
  CheckSurvey survey;
  for (const auto& column : columns) survey_column(rubric, board, lead, column.second, survey);
  std::stable_sort(survey.differentiators.begin(), survey.differentiators.end(),
                   [](const Differentiator& a, const Differentiator& b) {
                     return std::tuple(a.pivots(), a.stake * a.spread) >
                            std::tuple(b.pivots(), b.stake * b.spread);
                   });
  return survey;
}

double points_lost(const Rubric& rubric, const CellObservation& cell, const std::string& check) {
  const auto as_is = score_assuming(rubric, cell, {}).score;
  const auto earned = score_assuming(rubric, cell, {.gained = check}).score;
  return as_is && earned ? *earned - *as_is : 0;
}

}  // namespace gauntlet
