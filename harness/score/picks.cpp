// SPDX-License-Identifier: Apache-2.0
#include "harness/score/picks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "harness/core/text.h"

namespace gauntlet {
namespace {

/// What a need looks at: some challenges, and the submissions that were graded in all of them.
struct Field {
  std::vector<std::string> challenges;
  std::vector<std::string> submissions;
};

Field field_of(const Need& need, Device device, const Board& board,
               const std::vector<int>& round_of) {
  Field field;
  const std::vector<std::string> counting = board.challenges_on(device);
  for (std::size_t i = 0; i < board.challenges().size(); ++i)
    if (contains(counting, board.challenges()[i]) &&
        (need.rounds.empty() ||
         std::find(need.rounds.begin(), need.rounds.end(), round_of.at(i)) != need.rounds.end()))
      field.challenges.push_back(board.challenges()[i]);
  for (const auto& submission : board.submissions()) {
    if (is_reference_row(submission) || CellKey::of(submission).device != device) continue;
    const bool complete =
        std::all_of(field.challenges.begin(), field.challenges.end(), [&](const auto& id) {
          const BoardCell* cell = board.find(submission, id);
          return cell && cell->score.score;
        });
    if (!field.challenges.empty() && (complete || need.measure == Measure::challenges))
      field.submissions.push_back(submission);
  }
  return field;
}

/// Nothing in a cell that has no section of weight.
std::optional<Interval> weighted_sections(const Need& need, const CellScore& score) {
  Interval sum;
  double weight = 0;
  for (const auto& section : score.sections) {
    const double own = need.sections.at(static_cast<std::size_t>(section.section));
    sum.low += own * section.score;
    sum.high += own * section.high;
    weight += own;
  }
  if (weight == 0) return std::nullopt;
  return Interval{sum.low / weight, sum.high / weight};
}

std::optional<Interval> mean_sections(const Need& need, const Field& field, const Board& board,
                                      const std::string& submission) {
  Interval sum;
  const auto count = static_cast<double>(field.challenges.size());
  for (const auto& id : field.challenges) {
    const auto value = weighted_sections(need, board.find(submission, id)->score);
    if (!value) return std::nullopt;
    sum.low += value->low / count;
    sum.high += value->high / count;
  }
  return sum;
}

Interval lowest_score(const Field& field, const Board& board, const std::string& submission) {
  Interval lowest{100, 100};
  for (const auto& id : field.challenges) {
    const Interval score = board.find(submission, id)->score.ends();
    lowest = {std::min(lowest.low, score.low), std::min(lowest.high, score.high)};
  }
  return lowest;
}

Interval graded_challenges(const Field& field, const Board& board, const std::string& submission) {
  const auto count = static_cast<double>(
      std::count_if(field.challenges.begin(), field.challenges.end(), [&](const auto& id) {
        const BoardCell* cell = board.find(submission, id);
        return cell && cell->score.score;
      }));
  return {count, count};
}

/// The timed cases of a field: those that anybody ran. Whoever failed the check of a case, or whose
/// race told nothing, is as slow in it as the rubric knows; in the latter case it may also be as
/// fast as anything. Several attempts of a submission count alike.
class Speeds {
 public:
  Speeds(const Rubric& rubric, const Field& field, const Board& board,
         const std::vector<CellObservation>& cells)
      : slowest_(rubric.zero_ratio) {
    const std::set<std::string> ids(field.challenges.begin(), field.challenges.end());
    const std::set<std::string> names(field.submissions.begin(), field.submissions.end());
    for (const auto& cell : cells) {
      const std::string submission = board.submission(cell.key);
      if (!ids.contains(cell.key.column()) || !names.contains(submission)) continue;
      attempts_[submission].insert(cell.key.row());
      for (const auto& check : cell.checks) add(rubric, cell, check);
    }
  }

  std::optional<Interval> geometric_mean(const std::string& submission) const {
    if (cases_.empty()) return std::nullopt;
    const auto& attempts = attempts_.at(submission);
    double logs = 0;
    bool open = false;
    for (const auto& attempt : attempts) {
      open = open || open_.contains(attempt);
      for (const auto& one : cases_) {
        const auto own = one.second.find(attempt);
        logs += std::log(std::max(slowest_, own == one.second.end() ? 0.0 : own->second));
      }
    }
    const double mean = std::exp(logs / static_cast<double>(cases_.size() * attempts.size()));
    return Interval{mean, open ? std::numeric_limits<double>::infinity() : mean};
  }

 private:
  using Case = std::tuple<std::string, std::string, std::string>;  // challenge, check, name

  void add(const Rubric& rubric, const CellObservation& cell, const CheckObservation& check) {
    if (check.info.section != Section::performance || blames_submission(check.verdict)) return;
    if (check.verdict != Verdict::passed) open_.insert(cell.key.row());
    if (check.verdict != Verdict::passed) return;
    for (const auto& speed : check.speeds) {
      auto& ratios = cases_[{cell.key.column(), check.info.id, speed.case_name}];
      if (rubric.counts(speed))
        ratios[cell.key.row()] = speed.ratio;
      else
        open_.insert(cell.key.row());
    }
  }

  double slowest_;
  std::map<Case, std::map<std::string, double>> cases_;    // ratios by attempt
  std::map<std::string, std::set<std::string>> attempts_;  // of each submission
  std::set<std::string> open_;                             // attempts that miss some
};

std::vector<Candidate> candidates_of(const Rubric& rubric, const Need& need, const Field& field,
                                     const Board& board,
                                     const std::vector<CellObservation>& cells) {
  std::optional<Speeds> speeds;
  if (need.measure == Measure::speed) speeds.emplace(rubric, field, board, cells);
  std::vector<Candidate> candidates;
  for (const auto& submission : field.submissions) {
    std::optional<Interval> value;
    if (need.measure == Measure::sections) value = mean_sections(need, field, board, submission);
    if (need.measure == Measure::lowest_score) value = lowest_score(field, board, submission);
    if (need.measure == Measure::speed) value = speeds->geometric_mean(submission);
    if (need.measure == Measure::challenges) value = graded_challenges(field, board, submission);
    if (!value) continue;
    const bool vetoed =
        need.critical_veto &&
        std::any_of(field.challenges.begin(), field.challenges.end(), [&](const auto& id) {
          return board.find(submission, id)->score.critical_failure();
        });
    candidates.push_back({submission, value->low, value->high, vetoed});
  }
  std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.vetoed, -a.value) < std::tuple(b.vetoed, -b.value);
  });
  return candidates;
}

bool clearly_better(const Rubric& rubric, Measure measure, double best, double second) {
  switch (measure) {
    case Measure::speed:
      return best > second * rubric.equal_within;
    case Measure::challenges:
      return best > second;
    case Measure::sections:
    case Measure::lowest_score:
      return best - second >= rubric.tie_band;
  }
  return false;
}

/// Nobody to choose among, a veto, or anybody who is or may be near leave nobody picked.
std::string clear_pick(const Rubric& rubric, const Pick& pick) {
  if (pick.candidates.size() < 2 || pick.candidates[0].vetoed) return "";
  const Candidate& best = pick.candidates[0];
  const bool clear =
      std::all_of(pick.candidates.begin() + 1, pick.candidates.end(), [&](const Candidate& other) {
        return other.vetoed || clearly_better(rubric, pick.need.measure, best.value, other.high);
      });
  return clear ? best.submission : "";
}

}  // namespace

std::vector<Pick> pick(const Rubric& rubric, const std::vector<Need>& needs, const Board& board,
                       const std::vector<CellObservation>& cells,
                       const std::vector<int>& round_of) {
  std::vector<Pick> picks;
  for (const Need& need : needs)
    for (const Device device : kAllDevices) {
      const Field field = field_of(need, device, board, round_of);
      if (field.submissions.empty()) continue;
      Pick pick{need, device, candidates_of(rubric, need, field, board, cells), ""};
      pick.submission = clear_pick(rubric, pick);
      picks.push_back(pick);
    }
  return picks;
}

}  // namespace gauntlet
