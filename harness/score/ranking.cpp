// SPDX-License-Identifier: Apache-2.0
#include "harness/score/ranking.h"

#include <algorithm>
#include <map>

#include "harness/core/names.h"

namespace gauntlet {
namespace {

constexpr NameTable<Shape, 5> kShapes{
    "shape", {"too short", "flat", "rising", "falling", "no steady direction"}};

/// The rows of single attempts, the submission's own where it is one.
std::vector<std::string> attempts_of(const Board& board, const std::string& submission) {
  const auto& several = board.attempts(submission);
  return several.empty() ? std::vector{submission} : several;
}

/// The grader that graded most cells of each challenge on one device.
std::map<std::string, std::string> usual_graders(const Board& board, Device device) {
  std::map<std::string, std::string> usual;
  for (const auto& challenge : board.challenges_on(device)) {
    std::map<std::string, int> votes;
    for (const auto& submission : board.submissions())
      for (const auto& attempt : attempts_of(board, submission))
        if (const BoardCell* cell = board.find(attempt, challenge);
            cell && cell->score.key.device == device)
          ++votes[cell->score.grader_digest];
    const auto most =
        std::max_element(votes.begin(), votes.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != votes.end()) usual[challenge] = most->first;
  }
  return usual;
}

using Graders = std::map<Device, std::map<std::string, std::string>>;

Ranked unplaced(const Board& board, const std::string& submission, const Graders& usual) {
  Ranked ranked;
  ranked.submission = submission;
  ranked.device = CellKey::of(submission).device;
  const auto& graders = usual.at(ranked.device);
  ranked.mean = board.mean(submission);
  if (!ranked.mean) return ranked;
  for (const auto& attempt : attempts_of(board, submission)) {
    const auto its = board.mean(attempt);
    ranked.all_attempts = ranked.all_attempts && its && its->graded == its->of;
  }
  double absent = 0;
  for (const auto& challenge : board.challenges_on(ranked.device)) {
    const BoardCell* cell = board.find(submission, challenge);
    if (!cell) absent += 100;
    if (!cell) continue;
    const CellScore& score = cell->score;
    if (score.score)
      ranked.same_graders = ranked.same_graders && score.grader_digest == graders.at(challenge);
    const Interval measured = score.measured.value_or(Interval{0, 0});
    const Interval range = score.range.value_or(Interval{0, 100});
    ranked.measured.low += measured.low;
    ranked.measured.high += measured.high;
    ranked.range.low += range.low;
    ranked.range.high += range.high;
  }
  const double all = ranked.mean->of;
  ranked.bounds = {ranked.range.low / all, (ranked.range.high + absent) / all};
  const double counted = ranked.mean->counted();
  for (double* end :
       {&ranked.measured.low, &ranked.measured.high, &ranked.range.low, &ranked.range.high})
    *end /= counted;
  return ranked;
}

bool may_have_place(const Ranked& ranked) {
  return ranked.mean && ranked.all_attempts && ranked.same_graders;
}

AttemptScores attempt_scores(const Board& board, const std::string& submission, Device device) {
  AttemptScores scores;
  for (const auto& challenge : board.challenges_on(device))
    scores.push_back(low_ends_of(board.find(submission, challenge)->score));
  return scores;
}

void place(const Rubric& rubric, const Board& board, Device device, std::vector<Ranked>& all) {
  const Resamples resamples(rubric.resamples, board.challenges_on(device).size(),
                            rubric.confidence);
  Standings column;
  for (const Ranked& ranked : all) {
    column.emplace_back();
    if (may_have_place(ranked) && ranked.device == device)
      column.back() = Standing{ranked.mean->ends(), ranked.measured,
                               attempt_scores(board, ranked.submission, device)};
  }
  const auto places = placements(rubric.mean_band, column, &resamples);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!places[i]) continue;
    all[i].place = places[i];
    if (places[i]->behind) all[i].ahead = all[places[i]->behind->ahead].submission;
  }
}

void set_rank_range(Ranked& ranked, const std::vector<Ranked>& all) {
  ranked.best_rank = 1;
  ranked.worst_rank = 1;
  for (const Ranked& other : all) {
    if (&other == &ranked || !other.mean || other.device != ranked.device) continue;
    if (other.bounds.low > ranked.bounds.high) ++ranked.best_rank;
    if (other.bounds.high >= ranked.bounds.low) ++ranked.worst_rank;
  }
}

}  // namespace

std::string_view name_of(Shape shape) {
  return kShapes.of(shape);
}

std::vector<Ranked> rank_submissions(const Rubric& rubric, const Board& board) {
  Graders graders;
  for (const Device device : kAllDevices) graders[device] = usual_graders(board, device);
  std::vector<Ranked> all;
  for (const auto& submission : board.submissions())
    if (!is_reference_row(submission)) all.push_back(unplaced(board, submission, graders));
  for (const Device device : kAllDevices) place(rubric, board, device, all);
  for (Ranked& ranked : all)
    if (ranked.mean) set_rank_range(ranked, all);
  return all;
}

Shape shape_of(const Rubric& rubric, const std::vector<RoundScore>& rounds) {
  std::vector<Interval> means;
  for (const RoundScore& round : rounds)
    if (round.mean) means.push_back(*round.mean);
  if (means.size() < 3) return Shape::too_short;
  const double band = rubric.tie_band;
  double low = means.front().low;
  double high = means.front().high;
  bool up = means.back().low - means.front().high >= band;
  bool down = means.front().low - means.back().high >= band;
  for (std::size_t i = 1; i < means.size(); ++i) {
    low = std::min(low, means[i].low);
    high = std::max(high, means[i].high);
    up = up && means[i - 1].high - means[i].low < band;
    down = down && means[i].high - means[i - 1].low < band;
  }
  if (high - low < band) return Shape::flat;
  return up ? Shape::rising : down ? Shape::falling : Shape::unsteady;
}

std::vector<RoundScore> trajectory(const Board& board, const std::string& submission,
                                   const std::vector<int>& round_of) {
  std::map<int, std::vector<const CellScore*>> cells;
  std::map<int, RoundScore> rounds;
  for (std::size_t i = 0; i < board.challenges().size(); ++i) {
    RoundScore& round = rounds[round_of.at(i)];
    round.round = round_of[i];
    ++round.of;
    const BoardCell* cell = board.find(submission, board.challenges()[i]);
    if (!cell) continue;
    cells[round.round].push_back(&cell->score);
    if (cell->score.score) ++round.graded;
  }
  std::vector<RoundScore> path;
  for (auto& [number, round] : rounds) {
    Interval sum;
    for (const CellScore* score : cells[number]) {
      sum.low += score->score.value_or(0);
      sum.high += score->high.value_or(100);
    }
    const auto count = static_cast<double>(cells[number].size());
    if (round.graded > 0) round.mean = Interval{sum.low / count, sum.high / count};
    path.push_back(round);
  }
  return path;
}

}  // namespace gauntlet
