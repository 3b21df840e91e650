// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "problem.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// What verification of a tree says: tokens, and the nodes that brought them.
struct Walk {
  std::vector<std::int32_t> emit;
  std::vector<std::int32_t> path;
  bool operator==(const Walk&) const = default;
};

/// The answer by definition: decode greedily without the tree, then look for the deepest node whose
/// whole path spells what was decoded. Never walks from row to row, as solutions do.
Walk greedy(const Language& language, const Draft& draft);

/// What the target says after each row.
std::vector<std::int32_t> says(const Language& language, const Draft& draft);

/// What is wrong with an answer, in a sentence. Where siblings carry the same token every path that
/// greedy decoding allows and that cannot go on is right; else there is exactly one.
std::optional<std::string> fault(const Language& language, const Draft& draft, const Walk& got);

/// What greedy decoding with the same drafter does to one request, taking the longest path each
/// time.
struct Expected {
  std::vector<std::int32_t> emit;
  std::int64_t rounds = 0;
  std::int64_t rows = 0;
  std::int64_t accepted = 0;
};
Expected expect(const Problem& problem, std::size_t r);

/// Row i may see row j: j is i, or an ancestor of i. By searching upwards from i for every pair.
std::vector<std::vector<bool>> visible(const Tree& tree);

/// Depth of each row; 0 for the root.
std::vector<std::int64_t> depths(const Tree& tree);

/// "2, 3, 9"; "nothing" when there is none; long lists are cut.
std::string listed(const std::vector<std::int32_t>& tokens);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
