// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graders/kit/assignments.h"

/// Sizes that a solution's own sources name: blocks, tiles, thresholds of a path for large calls.
/// Where a grader's classes have boundaries follows from what solutions usually do; these follow
/// from what this one does. After the dictionaries of fuzzers. Who hides a number, behind a
/// function or in a table of others, is asked as if it were not there: what all are asked does not
/// depend on it.
namespace gauntlet::kit {

/// A domain with classes more, and which of them are to be asked together.
struct NumberedDomain {
  Domain domain;
  std::vector<Together> sizes;     // an argument is about a number, or about its double
  std::vector<Together> products;  // two arguments multiply to about a number
};

/// Adds classes to those arguments that may be any integer, as far as their classes reach: each
/// number from 8 on with its neighbours, and twice as many, or one more than that. Unknown names
/// throw Broken.
NumberedDomain with_numbers(Domain domain, std::span<const std::int64_t> numbers, Rng& rng);

/// Assignments of these, `count` at most: a quarter are products where there are enough.
std::vector<Assignment> assignments_of_numbers(const NumberedDomain& numbered, Rng& rng,
                                               std::size_t count);

}  // namespace gauntlet::kit
