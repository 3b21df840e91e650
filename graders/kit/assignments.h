// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "graders/kit/domain.h"

/// Which of a domain's assignments are asked. The same domain and stream give the same ones.
namespace gauntlet::kit {

/// Assignments, the simplest first, in which every class of every argument meets every class of
/// every other that it is valid with. Where a class hides the others, only its own pairs count.
/// After the greedy algorithm of Cohen, Dalal, Fredman and Patton 1997, "The AETG system".
std::vector<Assignment> covering_assignments(const Domain& domain, Rng& rng);

/// Valid assignments, each different: some with few classes beyond the simplest, some with many.
std::vector<Assignment> random_assignments(const Domain& domain, Rng& rng, std::size_t count);

/// Assignments in which every class occurs that is valid; the simplest first.
std::vector<Assignment> each_class_once(const Domain& domain, Rng& rng);

}  // namespace gauntlet::kit
