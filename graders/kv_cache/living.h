// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cache.h"
#include "graders/kit/domain.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Does what the class of "history" says to a new cache. What does not fit has to be refused, and
/// then sequences stay shorter.
void live(Cache& cache, const kit::Assignment& choice, Rng& rng, const Ids& lengths);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
