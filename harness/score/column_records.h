// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "harness/score/compare.h"

namespace gauntlet {

/// What compare() says of every two of a column, counted without looking at each pair: of thousands
/// of submissions there are millions of pairs. Time grows as n log n.

/// The record of each score against all others of the column. Null where one did not take part,
/// which is comparable with nobody.
std::vector<Record> column_records(const Rubric& rubric,
                                   const std::vector<const CellScore*>& column);

/// Of how many pairs the winner is another one in `after`, which has the same cells in the same
/// order with other scores.
std::size_t changed_winners(const Rubric& rubric, const std::vector<CellScore>& before,
                            const std::vector<CellScore>& after);

}  // namespace gauntlet
