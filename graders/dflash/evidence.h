// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "oracle.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// The tree with what the target says after each row, the expected path and the one that was taken,
/// and the two results below, with the row that a wrong token must have been read from.
std::vector<std::string> draw_walks(const Language& language, const Draft& draft, const Walk& got);

/// The tree with the slots that the accepted path leaves in the cache, and those that were kept.
std::vector<std::string> draw_kept(const Language& language, const Draft& draft,
                                   const std::vector<std::int64_t>& slots);

/// The tree with each row's mask as it should be and as it was, one character a slot: '#' sees the
/// slot, '.' does not; only rows that differ, and what leads to them, are drawn of a big tree.
std::vector<std::string> draw_masks(const Draft& draft, const std::vector<std::vector<bool>>& got);

/// The tree with each row's position as it should be and as it was.
std::vector<std::string> draw_positions(const Draft& draft, std::span<const std::int64_t> got);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
