// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "graders/kit/domain.h"

/// Which of a domain's assignments are asked. The same domain and stream give the same ones.
namespace gauntlet::kit {

/// Assignments, the simplest and the domain's corners first, in which every class of every argument
/// meets every class of every other that it is valid with, where the class of no third argument
/// hides one of the two.
/// After the greedy algorithm of Cohen, Dalal, Fredman and Patton 1997, "The AETG system".
std::vector<Assignment> covering_assignments(const Domain& domain, Rng& rng);

/// Valid assignments, each different: some with few classes beyond the simplest, some with many.
/// Where there are enough of them, each class stands a few times where nothing hides it.
std::vector<Assignment> random_assignments(const Domain& domain, Rng& rng, std::size_t count);

/// The places of an argument and of one of its classes.
struct Choice {
  std::size_t argument, value_class;
};

/// Classes that stand together, of different arguments.
using Together = std::vector<Choice>;

/// Valid assignments, each different, which hold one of `wanted` each, in turn, unhidden, beside
/// few classes that are not the simplest or many.
std::vector<Assignment> assignments_with(const Domain& domain, Rng& rng,
                                         const std::vector<Together>& wanted, std::size_t count);

/// Every valid combination of a corner's classes, beside the simplest of all else; of all corners,
/// what is not among `all` yet. Unknown names throw Broken.
std::vector<Assignment> combinations(const Domain& domain, const Corner& corner);
void add_corners(const Domain& domain, const std::vector<Corner>& corners,
                 std::vector<Assignment>& all);

/// Assignments in which every class occurs that is valid; the simplest first.
std::vector<Assignment> each_class_once(const Domain& domain, Rng& rng);

}  // namespace gauntlet::kit
