// SPDX-License-Identifier: Apache-2.0
#include "harness/score/ranking.h"

#include <algorithm>
#include <map>

#include "harness/core/names.h"

namespace gauntlet {
namespace {

constexpr NameTable<Shape, 5> kShapes{
    "shape", {"too short", "flat", "rising", "falling", "no steady direction"}};

/// The grader that graded most cells of each challenge.
std::map<std::string, std::string> usual_graders(const Board& board) {
  std::map<std::string, std::string> usual;
  for (const auto& challenge : board.challenges()) {
    std::map<std::string, int> votes;
    for (const auto& submission : board.submissions())
      if (const BoardCell* cell = board.find(submission, challenge))
        ++votes[cell->score.grader_digest];
    const auto most =
        std::max_element(votes.begin(), votes.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != votes.end()) usual[challenge] = most->first;
  }
  return usual;
}

Ranked unplaced(const Board& board, const std::string& submission,
                const std::map<std::string, std::string>& graders) {
  Ranked ranked;
  ranked.submission = submission;
  ranked.device = CellKey::of(submission).device;
  ranked.mean = board.mean(submission);
  if (!ranked.mean) return ranked;
  for (const auto& challenge : board.challenges()) {
    const BoardCell* cell = board.find(submission, challenge);
    if (!cell || !cell->score.score) {
      ranked.bounds.high += 100;
      continue;
    }
    ranked.same_graders = ranked.same_graders && cell->score.grader_digest == graders.at(challenge);
    ranked.range.low += cell->score.range->low;
    ranked.range.high += cell->score.range->high;
  }
  const Interval sum = ranked.range;
  const double all = ranked.mean->of;
  const double counted = ranked.mean->graded + ranked.mean->broken;
  ranked.bounds = {sum.low / all, (sum.high + ranked.bounds.high) / all};
  ranked.range = {sum.low / counted, (sum.high + 100.0 * ranked.mean->broken) / counted};
  return ranked;
}

bool may_have_place(const Ranked& ranked) {
  return ranked.mean && ranked.mean->graded == ranked.mean->of && ranked.same_graders;
}

/// Can `later` be told from `anchor`, whose mean is no lower?
bool separable(const Rubric& rubric, const Ranked& anchor, const Ranked& later) {
  return anchor.mean->score - later.mean->score >= rubric.mean_band &&
         anchor.range.low > later.range.high;
}

/// `entries` have means, best first.
void place(const Rubric& rubric, const std::vector<Ranked*>& entries) {
  for (std::size_t first = 0; first < entries.size();) {
    std::size_t end = first + 1;
    while (end < entries.size() && !separable(rubric, *entries[first], *entries[end])) ++end;
    for (std::size_t i = first; i < end; ++i)
      entries[i]->place = Place{static_cast<int>(first) + 1, end - first > 1};
    first = end;
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
  const auto graders = usual_graders(board);
  std::vector<Ranked> all;
  for (const auto& submission : board.submissions())
    if (!is_reference_row(submission)) all.push_back(unplaced(board, submission, graders));
  for (const Device device : {Device::cpu, Device::cuda}) {
    std::vector<Ranked*> entries;  // the board's order is that of the means
    for (Ranked& ranked : all)
      if (may_have_place(ranked) && ranked.device == device) entries.push_back(&ranked);
    place(rubric, entries);
  }
  for (Ranked& ranked : all)
    if (ranked.mean) set_rank_range(ranked, all);
  return all;
}

Shape shape_of(const Rubric& rubric, const std::vector<RoundScore>& rounds) {
  std::vector<double> means;
  for (const RoundScore& round : rounds)
    if (round.mean) means.push_back(*round.mean);
  if (means.size() < 3) return Shape::too_short;
  const double band = rubric.tie_band;
  const auto [low, high] = std::minmax_element(means.begin(), means.end());
  if (*high - *low < band) return Shape::flat;
  bool up = means.back() - means.front() >= band;
  bool down = means.front() - means.back() >= band;
  for (std::size_t i = 1; i < means.size(); ++i) {
    up = up && means[i - 1] - means[i] < band;
    down = down && means[i] - means[i - 1] < band;
  }
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
    if (cell->score.status == CellStatus::broken) ++round.broken;
    if (cell->score.score) cells[round.round].push_back(&cell->score);
  }
  std::vector<RoundScore> path;
  for (auto& [number, round] : rounds) {
    const auto& graded = cells[number];
    round.graded = static_cast<int>(graded.size());
    double sum = 0;
    for (const CellScore* score : graded) sum += *score->score;
    if (round.graded > 0) round.mean = sum / (round.graded + round.broken);
    path.push_back(round);
  }
  return path;
}

}  // namespace gauntlet
