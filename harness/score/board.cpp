// SPDX-License-Identifier: Apache-2.0
#include "harness/score/board.h"

#include <algorithm>
#include <tuple>

#include "harness/core/cell_key.h"
#include "harness/score/attempt_mean.h"

namespace gauntlet {
namespace {

void add_new(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

/// One of the cells that most others can be compared with; of equally many, one that lacks least.
const CellScore* most_common(const std::vector<const CellScore*>& scores) {
  // What comparable() compares.
  const auto question_of = [](const CellScore& score) {
    return std::tie(score.key.challenge, score.key.size, score.key.device, score.grader_digest);
  };
  std::map<decltype(question_of(*scores.front())), std::ptrdiff_t> counts;
  for (const CellScore* one : scores) ++counts[question_of(*one)];
  const CellScore* best = nullptr;
  std::tuple<std::ptrdiff_t, std::ptrdiff_t> most;
  for (const CellScore* one : scores) {
    const std::tuple now{counts.at(question_of(*one)),
                         -static_cast<std::ptrdiff_t>(one->not_measured.size())};
    if (best && now <= most) continue;
    best = one;
    most = now;
  }
  return best;
}

}  // namespace

std::vector<std::optional<Place>> column_places(const Rubric& rubric,
                                                const std::vector<const CellScore*>& scores) {
  const CellScore* group = most_common(scores);
  Standings column;
  bool several = false;
  for (const CellScore* score : scores) {
    column.emplace_back();
    if (!score->score || !comparable(*score, *group)) continue;
    column.back() = Standing{score->ends(), {*score->score, *score->score}, {low_ends_of(*score)}};
    several = several || score->attempts.size() > 1;
  }
  if (!several) return placements(rubric.tie_band, column);
  const Resamples resamples(rubric.resamples, 1, rubric.confidence);
  return placements(rubric.tie_band, column, &resamples);
}

std::vector<double> low_ends_of(const CellScore& score) {
  return score.attempts.empty() ? std::vector{score.score.value_or(0)} : score.attempts;
}

bool is_reference_row(std::string_view row) {
  return CellKey::of(row).submission == kReferenceName;
}

Board::Board(const Rubric& rubric, const std::vector<CellObservation>& cells,
             std::vector<std::string> challenges, Attempts attempts)
    : rubric_(rubric), challenges_(std::move(challenges)) {
  if (attempts == Attempts::together) find_attempts(cells);
  std::set<std::string> rows;  // that take places: no single attempt of several
  for (const auto& cell : cells) {
    rows.insert(submission(cell.key));
    add_new(cell.key.is_standard() ? challenges_ : other_sizes_, cell.key.column());
    cells_[{row(cell.key), cell.key.column()}] = {score_cell(rubric, cell), std::nullopt};
  }
  add_means();
  for (const auto* column : {&challenges_, &other_sizes_})
    for (const auto& challenge : *column)
      for (const Device device : kAllDevices) place(challenge, device, rows);
  submissions_.assign(rows.begin(), rows.end());
  order_submissions();
}

void Board::find_attempts(const std::vector<CellObservation>& cells) {
  std::map<std::string, std::map<int, std::string>> numbered;
  for (const auto& cell : cells)
    numbered[cell.key.submission_row()][cell.key.attempt] = cell.key.attempt_row();
  for (const auto& [submission, rows] : numbered)
    if (rows.size() > 1)
      for (const auto& one : rows) attempts_[submission].push_back(one.second);
}

const std::vector<std::string>& Board::attempts(const std::string& submission) const {
  static const std::vector<std::string> none;
  const auto found = attempts_.find(submission);
  return found == attempts_.end() ? none : found->second;
}

std::string Board::row(const CellKey& key) const {
  return attempts_.contains(key.submission_row()) ? key.attempt_row() : key.row();
}

std::string Board::submission(const CellKey& key) const {
  return attempts_.contains(key.submission_row()) ? key.submission_row() : key.row();
}

void Board::add_means() {
  for (const auto& [submission, rows] : attempts_)
    for (const auto* columns : {&challenges_, &other_sizes_})
      for (const auto& column : *columns) {
        std::vector<const CellScore*> scores;
        for (const auto& one : rows)
          if (const BoardCell* cell = find(one, column)) scores.push_back(&cell->score);
        if (scores.empty()) continue;
        cells_[{submission, column}] = {mean_of(rubric_, scores), std::nullopt};
      }
}

void Board::place(const std::string& challenge, Device device, const std::set<std::string>& rows) {
  std::vector<BoardCell*> entries;
  std::vector<const CellScore*> scores;
  for (const std::string& name : rows) {
    const auto found = cells_.find({name, challenge});
    if (found == cells_.end() || is_reference_row(name)) continue;
    BoardCell& cell = found->second;
    if (!cell.score.score || cell.score.key.device != device) continue;
    entries.push_back(&cell);
    scores.push_back(&cell.score);
  }
  const auto places = column_places(rubric_, scores);
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i]->placement = places[i];
}

void Board::order_submissions() {
  const auto rank = [&](const std::string& name) {
    const auto average = mean(name);
    const bool complete = average && average->graded == average->of;
    return std::tuple(is_reference_row(name), CellKey::of(name).device, !complete,
                      average ? -average->score : 1.0, name);
  };
  std::sort(submissions_.begin(), submissions_.end(),
            [&](const std::string& a, const std::string& b) { return rank(a) < rank(b); });
}

const BoardCell* Board::find(const std::string& row, const std::string& challenge) const {
  const auto found = cells_.find({row, challenge});
  return found == cells_.end() ? nullptr : &found->second;
}

std::vector<std::string> Board::challenges_on(Device device) const {
  if (device == Device::cpu) return challenges_;
  std::vector<std::string> counting;
  for (const auto& challenge : challenges_)
    if (std::any_of(cells_.begin(), cells_.end(), [&](const auto& cell) {
          return cell.first.second == challenge && cell.second.score.key.device == device;
        }))
      counting.push_back(challenge);
  return counting;
}

std::optional<Mean> Board::mean(const std::string& row) const {
  Mean mean;
  const std::vector<std::string> counting = challenges_on(CellKey::of(row).device);
  mean.of = static_cast<int>(counting.size());
  for (const auto& challenge : counting) {
    const BoardCell* cell = find(row, challenge);
    if (!cell) continue;
    const CellScore& score = cell->score;
    if (score.status == CellStatus::broken) ++mean.broken;
    if (score.status == CellStatus::unmeasured) ++mean.unmeasured;
    if (score.status == CellStatus::graded) ++mean.graded;
    mean.score += score.score.value_or(0);
    mean.high += score.high.value_or(100);
    mean.partial = mean.partial || score.partial() || !score.score;
  }
  if (mean.graded == 0) return std::nullopt;
  mean.score /= mean.counted();
  mean.high /= mean.counted();
  return mean;
}

PairVerdict Board::compare(const std::string& first, const std::string& second,
                           const std::string& challenge) const {
  const BoardCell* a = find(first, challenge);
  const BoardCell* b = find(second, challenge);
  return gauntlet::compare(rubric_, a ? &a->score : nullptr, b ? &b->score : nullptr);
}

Record Board::record(const std::string& first, const std::string& second) const {
  Record record;
  for (const auto& challenge : challenges_) record.count(compare(first, second, challenge));
  return record;
}

}  // namespace gauntlet
