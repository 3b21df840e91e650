// SPDX-License-Identifier: Apache-2.0
#include "harness/score/grade.h"

namespace gauntlet {

Grade grade_of(const Rubric& rubric, const Interval& score) {
  return {score, rubric.letter_of(score.low), rubric.letter_of(score.high),
          rubric.printed(score.low), rubric.printed(score.high)};
}

}  // namespace gauntlet
