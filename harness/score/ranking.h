// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/score/board.h"

namespace gauntlet {

/// Where a submission stands among all others of its device. Ranges come from measured uncertainty:
/// the intervals of timed cases, and what could not be measured. How far a model varies is known as
/// far as it made several attempts; one attempt each says nothing of it.
struct Ranked {
  std::string submission;
  std::optional<Mean> mean;
  Device device = Device::cpu;
  Interval measured;           // of the mean's low end, by the intervals of timed cases
  Interval range;              // of the mean over everything that it took part in
  Interval bounds;             // of the mean over all challenges, a missing one being worth 0..100
  std::optional<Place> place;  // none unless every attempt was graded everywhere, by the graders of
                               // the others: leaving out what went wrong must not raise a mean
  std::string ahead;           // the submission that `place->behind` compares it with
  bool same_graders = true;    // false: some of its cells were graded by other graders than most
  bool all_attempts = true;    // false: one of its attempts was not graded everywhere
  int best_rank = 0;           // that no other submission's bounds exclude; 0 without a mean
  int worst_rank = 0;
};

/// In the board's order, without the reference. Submissions share a place with the first of their
/// group while their means are within the rubric's mean_band of its, or cannot be told from it by
/// what was measured, or by Resamples of its challenges and attempts.
std::vector<Ranked> rank_submissions(const Rubric& rubric, const Board& board);

/// One round of challenges in the life of a submission.
struct RoundScore {
  int round = 0;
  int graded = 0;
  int of = 0;
  std::optional<Interval> mean;  // both ends, see Mean; none when nothing was graded
};

enum class Shape { too_short, flat, rising, falling, unsteady };
std::string_view name_of(Shape shape);

/// Rising: at least three rounds, no step down by the tie band or more, and the end above the start
/// by as much; falling likewise. Flat: all rounds within the tie band. Whichever ends of their
/// ranges the means are at.
Shape shape_of(const Rubric& rubric, const std::vector<RoundScore>& rounds);

/// By round, ascending. `round_of`: the round of each of the board's challenges.
std::vector<RoundScore> trajectory(const Board& board, const std::string& submission,
                                   const std::vector<int>& round_of);

}  // namespace gauntlet
