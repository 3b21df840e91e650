// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "contract.h"
#include "harness/worker/call.h"
#include "tree.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// One tree in one place of a text.
struct Draft {
  Tree tree;
  std::int32_t root_token = 0;  // for drawings
  State root = 0;               // the text up to and with the root
  std::int64_t context_length = 0;
  std::int64_t max_emit = 0;
};

/// Writes the logits after a text, whose largest is the language's choice.
using WriteLogits = std::function<void(State text, std::span<float> row)>;

/// The same where there need not be a writer: by the language itself.
inline void write_logits(const Language& language, const WriteLogits& write, State text,
                         std::span<float> row) {
  write ? write(text, row) : language.logits(text, row);
}

/// Logits that are quickly written: the choice stands above all others, which are equal.
WriteLogits plain_logits(const Language& language);

/// Trees over texts of one language, verified or built in one call.
struct Batch {
  const Language* language = nullptr;
  std::vector<Draft> drafts = {};
  WriteLogits logits = {};
};

/// Drafts a tree for request r when `known` tokens of its text are decided; `text` is their state.
/// Must answer the same whenever it is asked the same.
using Drafter = std::function<Tree(std::size_t r, std::int64_t known, State text)>;

struct Prompt {
  std::vector<std::int32_t> tokens;
  std::int64_t max_new = 0;
};

/// Everything that one call of dflash_generate is about.
struct Problem {
  const Language* language = nullptr;
  std::vector<Prompt> prompts;
  std::int64_t budget = 0;
  Drafter drafter;
  enum class Callback { none, draft, forward, keep };
  Callback failing = Callback::none;  // from its call number fail_at it returns `failure`
  std::int64_t fail_at = 0;
  std::int64_t failure = 0;
  std::function<void(DflashDraft&, CallbackRequest&)> spoil_draft = {};  // changes the answer
  WriteLogits logits = {};
};

/// The draft that request r is given when `known` tokens are decided, for checks and drawings.
Draft draft_at(const Problem& problem, std::size_t r, std::int64_t known);
/// The same where the text's state and its last token are at hand.
Draft draft_of(const Problem& problem, std::size_t r, std::int64_t known, State text,
               std::int32_t root_token);

/// Any token of the vocabulary; any but 0; any that is not the target's choice after `text`.
std::int32_t random_token(const Language& language, Rng& rng);
std::int32_t nonzero_token(const Language& language, Rng& rng);
std::int32_t wrong_token(const Language& language, State text, Rng& rng);

/// Ascending, but for the lowest quarter, which follows the others.
void put_lowest_last(std::vector<std::int32_t>& tokens);

/// Tokens outside the vocabulary for children of one of the rows that have these texts. Some become
/// the right one when they are cut to fewer bits or taken modulo the vocabulary, or that of the row
/// before or behind when row and token are packed into one number.
std::vector<std::int32_t> strangers(const Language& language, const std::vector<State>& texts,
                                    std::size_t row);

Prompt random_prompt(const Language& language, std::int64_t length, std::int64_t max_new, Rng& rng);

/// A random text of `length` tokens, the last of which is the root of a draft without a tree.
Draft draft_after(const Language& language, std::int64_t length, Rng& rng);
/// The same with a tree by this plan and room for every token.
Draft random_draft(const Language& language, const TreePlan& plan, Rng& rng);

/// A chain of `correct` right nodes and `wrong` further ones. Checks that are not about branches
/// use chains, so that a solution that can only follow chains fails for what they ask.
TreePlan chain_plan(std::int64_t correct, std::int64_t wrong);

/// A correct path of `correct` nodes, and beside every one of its rows a wrong node from which a
/// chain of `depth` nodes grows that is right by its own parents throughout.
Tree rejected_chains(const Language& language, State root, std::int64_t correct, std::int64_t depth,
                     Rng& rng);

/// `wrong` children of the root that nobody says, and behind them a path of `correct` right nodes.
Tree late_path(const Language& language, State root, std::int64_t wrong, std::int64_t correct);

/// A request whose draft is a deep path of right nodes that ends in many equal ones, so that a pass
/// has no room for each path on its own.
Problem with_equal_leaves(const Language& language, Rng& rng);

/// A request whose draft is a long path of right nodes with a wrong leaf beside each, so that a
/// pass has no room for the path of each leaf on its own.
Problem with_long_comb(const Language& language, Rng& rng);

/// Trees of one size that are chains, or stars, but for one node, with a right path through where
/// they differ: neighbours have most parents in common.
Batch alike_trees(const Language& language, Rng& rng);
/// A request of twenty rounds, each of which has such a tree.
Problem alike_drafts(const Language& language, bool chains, Rng& rng);

/// Chains of up to two nodes, right and wrong, that go on with a token outside the vocabulary.
/// Behind it stand nodes that are right by their own parents, and one that would be if it were not
/// there.
std::vector<Tree> chains_past_strangers(const Language& language, State root, Rng& rng);
/// One draft of each.
Batch past_strangers(const Language& language, Rng& rng);

/// More requests than 16 bits can count, each of one token and a draft of no node, of a right or of
/// a wrong one, as far as the budget allows.
Problem many_requests(const Language& language, std::int64_t budget, std::int64_t max_new,
                      Rng& rng);

/// Requests each of which one pass ends, if it is about their own drafts.
Problem one_pass(const Language& language, std::int64_t requests, Rng& rng);

/// A request that emits more tokens than 16 bits can count, all but a few of them drafted.
Problem long_request(const Language& language, Rng& rng);

/// Requests that may emit more tokens than 16 bits can count and end after seven, all of which are
/// drafted. Gives the language its end.
Problem ample_limits(Language& language, Rng& rng);

/// Requests that end after two tokens, by a bonus or a node that 16 bits do not hold. Gives the
/// language, of a vocabulary as large as that, its ends.
Problem large_ends(Language& language, Rng& rng);

/// A path of `correct` right nodes somewhere among others, which say anything and grow anywhere,
/// for trees of thousands of nodes: unlike grow() it takes no time to compare siblings, which may
/// be equal where they are wrong.
Tree large_random_tree(const Language& language, State root, std::int64_t nodes,
                       std::int64_t correct, Rng& rng);

/// The random stream of one draft, which therefore is the same whenever it is asked for.
Rng draft_rng(const Seed& seed, std::size_t r, std::int64_t known);

/// Drafts trees by plans that are drawn for each anew.
Drafter planned_drafter(const Language& language, const Seed& seed,
                        std::function<TreePlan(Rng& rng)> plan);
/// Random trees of low..high nodes.
Drafter random_drafter(const Language& language, const Seed& seed, std::int64_t low,
                       std::int64_t high);
/// Chains of low..high nodes, of which the first few are right.
Drafter chain_drafter(const Language& language, const Seed& seed, std::int64_t low,
                      std::int64_t high);

/// The trees of fixtures/directed_trees.h in one language, each after a text of its own, under
/// random token ids; 0 stays 0, because padding is what one of them is about.
struct DirectedTrees {
  explicit DirectedTrees(Rng& rng);
  Language language;
  std::vector<Prompt> prompts;  // one for each tree; max_new is left to the check
  std::vector<Draft> drafts;
  std::vector<std::string> names;
};

}  // namespace gauntlet::GAUNTLET_CHALLENGE
