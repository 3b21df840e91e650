// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tree.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Beside the tree: one cell for every row, the root's first.
struct Column {
  std::string header;
  std::vector<std::string> cells;
};

/// A tree as text, one row a line in depth-first order, with columns beside it. Of a big tree only
/// the rows in `shown` and what leads to them are drawn (all, when empty).
///
///   tree           token  target says  expected  got
///   root               5            2       *      *
///   ├─ node 0          2            3       *      *
///   └─ node 1          3            9
///      └─ node 2       9            7              X
std::vector<std::string> draw(const Tree& tree, const std::vector<Column>& columns,
                              std::vector<bool> shown = {});

}  // namespace gauntlet::GAUNTLET_CHALLENGE
