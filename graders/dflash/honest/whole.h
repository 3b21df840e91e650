// SPDX-License-Identifier: Apache-2.0
// What makes a solution of any header here: the strategy of top_down_walk. A mutant of what all
// variants share is a changed header that is compiled itself, and includes this at its end.
#pragma once

#include "rounds.h"
#include "walk.h"

std::int64_t dflash_generate(const DflashGenerateArgs* args) {
  return generate<TreePass>(args);
}
