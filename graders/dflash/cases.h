#pragma once

#include <cstdint>

#include "harness/core/rng.h"
#include "oracle.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// A random text of `length` tokens, the last of which is the root of a draft without a tree.
Draft draft_after(const Language& language, std::int64_t length, Rng& rng);

/// The same with a tree by this plan and room for every token.
Draft draw_draft(const Language& language, const TreePlan& plan, Rng& rng);

/// A chain of `correct` right nodes and `wrong` further ones. Checks that are not about branches
/// use chains, so that a solution that can only follow chains fails for what they ask.
TreePlan chain_plan(std::int64_t correct, std::int64_t wrong);

/// A correct path of `correct` nodes, and beside every one of its rows a wrong node from which a
/// chain of `depth` nodes grows that is right by its own parents throughout.
Tree rejected_chains(const Language& language, State root, std::int64_t correct, std::int64_t depth,
                     Rng& rng);

/// A path of `correct` right nodes somewhere among others, which say anything and grow anywhere,
/// for trees of thousands of nodes: unlike grow() it takes no time to compare siblings, which may
/// be equal where they are wrong.
Tree thicket(const Language& language, State root, std::int64_t nodes, std::int64_t correct,
             Rng& rng);

/// A token of the vocabulary that is not the target's choice after `text`.
std::int32_t wrong_token(const Language& language, State text, Rng& rng);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
