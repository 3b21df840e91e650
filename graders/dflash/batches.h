// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "problem.h"

/// Batches whose trees are easily taken for each other, or for what they nearly are.
namespace gauntlet::GAUNTLET_CHALLENGE {

/// A chain of right nodes that has so many rows, all of whose tokens are wanted: they fill `emit`.
Batch whole_chain(const Language& language, std::int64_t rows, Rng& rng);

/// Trees of four chains, one behind the other, each of which is the right one in a tree. They are
/// as long as words and blocks are: parents ascend within each of these, and descend between them.
Batch chains_in_a_row(const Language& language, Rng& rng);

/// Trees of few and of many nodes after one text, each between two others: the last node of the one
/// and the first ones of the other are what it lacks.
Batch between_right_neighbours(const Language& language, Rng& rng);

/// More trees after one text than 16 bits can count. The first has a node, which is right, and the
/// others, which have none, are not to be given it.
Batch one_right_node(const Language& language, Rng& rng);

/// Some large trees with long right paths, between two without nodes.
Batch large_trees(const Language& language, Rng& rng);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
