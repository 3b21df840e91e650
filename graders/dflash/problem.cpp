// SPDX-License-Identifier: Apache-2.0
#include "problem.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <numeric>

#include "fixtures/directed_trees.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

Draft draft_of(const Problem& problem, std::size_t r, std::int64_t known, State text,
               std::int32_t root_token) {
  Draft draft;
  draft.tree = problem.drafter(r, known, text).cropped(problem.budget);
  draft.root_token = root_token;
  draft.root = text;
  draft.context_length = known - 1;
  draft.max_emit = problem.prompts[r].max_new - (known - std::ssize(problem.prompts[r].tokens));
  return draft;
}

Draft draft_at(const Problem& problem, std::size_t r, std::int64_t known) {
  auto tokens = problem.prompts[r].tokens;
  const auto more =
      problem.language->decode(problem.language->read(tokens), known - std::ssize(tokens));
  tokens.insert(tokens.end(), more.begin(), more.end());
  return draft_of(problem, r, known, problem.language->read(tokens), tokens.back());
}

WriteLogits plain_logits(const Language& language) {
  return [&language](State text, std::span<float> row) {
    std::ranges::fill(row, 0.0f);
    row[static_cast<std::size_t>(language.choice(text))] = 1;
  };
}

std::int32_t random_token(const Language& language, Rng& rng) {
  return static_cast<std::int32_t>(rng.integer(0, language.vocab() - 1));
}

std::int32_t nonzero_token(const Language& language, Rng& rng) {
  return static_cast<std::int32_t>(rng.integer(1, language.vocab() - 1));
}

std::int32_t wrong_token(const Language& language, State text, Rng& rng) {
  const std::int64_t away = rng.integer(1, language.vocab() - 1);
  return static_cast<std::int32_t>((language.choice(text) + away) % language.vocab());
}

void put_lowest_last(std::vector<std::int32_t>& tokens) {
  std::ranges::sort(tokens);
  std::rotate(tokens.begin(), tokens.begin() + std::ssize(tokens) / 4, tokens.end());
}

std::vector<std::int32_t> strangers(const Language& language, const std::vector<State>& texts,
                                    std::size_t row) {
  using Limits = std::numeric_limits<std::int32_t>;
  const std::int64_t vocab = language.vocab();
  const std::int64_t right = language.choice(texts[row]);
  std::vector<std::int64_t> tokens{-1,
                                   right + vocab,
                                   right - vocab,
                                   right + (1 << 16),
                                   right + (1 << 20),
                                   right + (1 << 24),
                                   right + (1 << 8) * vocab,
                                   -right,
                                   ~right,
                                   right + Limits::min(),
                                   Limits::min(),
                                   Limits::max()};
  for (const std::int64_t unit : {vocab, 1L << 16, 1L << 17, 1L << 20, 1L << 24, 1L << 31}) {
    if (row > 0) tokens.push_back(language.choice(texts[row - 1]) - unit);
    if (row + 1 < texts.size()) tokens.push_back(language.choice(texts[row + 1]) + unit);
  }
  std::vector<std::int32_t> foreign;
  for (const std::int64_t token : tokens)
    if (token >= Limits::min() && token <= Limits::max() && (token < 0 || token >= vocab))
      foreign.push_back(static_cast<std::int32_t>(token));
  return foreign;
}

Prompt random_prompt(const Language& language, std::int64_t length, std::int64_t max_new,
                     Rng& rng) {
  Prompt prompt;
  prompt.max_new = max_new;
  while (std::ssize(prompt.tokens) < length) prompt.tokens.push_back(random_token(language, rng));
  return prompt;
}

Draft draft_after(const Language& language, std::int64_t length, Rng& rng) {
  const std::vector<std::int32_t> text = random_prompt(language, length, 0, rng).tokens;
  Draft draft;
  draft.root_token = text.back();
  draft.root = language.read(text);
  draft.context_length = length - 1;
  draft.max_emit = 1;
  return draft;
}

Draft random_draft(const Language& language, const TreePlan& plan, Rng& rng) {
  Draft draft = draft_after(language, rng.integer(1, 40), rng);
  draft.tree = grow(language, draft.root, plan, rng);
  draft.max_emit = draft.tree.rows() + rng.integer(0, 3);
  return draft;
}

TreePlan chain_plan(std::int64_t correct, std::int64_t wrong) {
  TreePlan plan;
  plan.shape = Shape::chain;
  plan.correct = correct;
  plan.nodes = correct + wrong;
  return plan;
}

Tree rejected_chains(const Language& language, State root, std::int64_t correct, std::int64_t depth,
                     Rng& rng) {
  Tree tree;
  State text = root;
  std::int32_t tip = -1;
  for (std::int64_t i = 0; i <= correct; ++i) {
    std::int32_t node = tree.add(tip, wrong_token(language, text, rng));
    State rejected = language.extend(text, tree.token.back());
    for (std::int64_t k = 0; k < depth; ++k) {
      node = tree.add(node, language.choice(rejected));
      rejected = language.extend(rejected, tree.token.back());
    }
    if (i == correct) break;
    tip = tree.add(tip, language.choice(text));
    text = language.extend(text, tree.token.back());
  }
  return tree;
}

Tree late_path(const Language& language, State root, std::int64_t wrong, std::int64_t correct) {
  Tree tree;
  while (tree.nodes() < wrong) tree.add(-1, -1);
  for (std::int32_t above = -1; tree.nodes() < wrong + correct;) {
    above = tree.add(above, language.choice(root));
    root = language.extend(root, tree.token.back());
  }
  return tree;
}

namespace {

/// A path of `depth` right nodes that ends in `leaves` equal ones.
Tree equal_leaves(const Language& language, State root, std::int64_t depth, std::int64_t leaves) {
  Tree tree = late_path(language, root, 0, depth + 1);
  const std::int32_t leaf = tree.token.back();
  while (tree.nodes() < depth + leaves) tree.add(static_cast<std::int32_t>(depth) - 1, leaf);
  return tree;
}

}  // namespace

Problem with_equal_leaves(const Language& language, Rng& rng) {
  constexpr std::int64_t kDepth = 75;
  constexpr std::int64_t kLeaves = 80;
  static_assert(kLeaves * (kDepth + 2) > DFLASH_MOST_ROWS * (kDepth + kLeaves + 1));
  return {&language,
          {random_prompt(language, rng.integer(1, 9), kDepth + 2, rng)},
          kDepth + kLeaves,
          [&language](std::size_t, std::int64_t, State text) {
            return equal_leaves(language, text, kDepth, kLeaves);
          }};
}

Problem with_long_comb(const Language& language, Rng& rng) {
  constexpr std::int64_t kDepth = 140;
  static_assert((kDepth + 3) * kDepth / 2 > DFLASH_MOST_ROWS * (2 * kDepth + 1));
  return {&language,
          {random_prompt(language, rng.integer(1, 9), kDepth + 2, rng)},
          2 * kDepth,
          [&language, seed = rng.seed()](std::size_t r, std::int64_t known, State text) {
            Rng own = draft_rng(seed, r, known);
            return rejected_chains(language, text, kDepth, 0, own).cropped(2 * kDepth);
          }};
}

namespace {

TreePlan alike_plan(bool chain, std::int64_t nodes) {
  if (chain) return {nodes, Shape::chain_but_one, Order::depth_first, nodes / 3};
  return {nodes, Shape::star_but_one, Order::depth_first, 2};
}

}  // namespace

Batch alike_trees(const Language& language, Rng& rng) {
  Batch batch{&language};
  const std::int64_t nodes = rng.integer(60, 90);
  for (int t = 0; t < 40; ++t)
    batch.drafts.push_back(random_draft(language, alike_plan(t < 20, nodes), rng));
  return batch;
}

Problem alike_drafts(const Language& language, bool chains, Rng& rng) {
  const std::int64_t nodes = rng.integer(60, 90);
  return {&language,
          {random_prompt(language, rng.integer(1, 20), chains ? 20 * nodes / 3 : 60, rng)},
          nodes,
          planned_drafter(language, rng.seed(),
                          [chains, nodes](Rng&) { return alike_plan(chains, nodes); })};
}

std::vector<Tree> chains_past_strangers(const Language& language, State root, Rng& rng) {
  std::vector<Tree> trees;
  for (const auto& [correct, wrong] : {std::pair{0, 0}, {1, 0}, {0, 1}, {1, 1}}) {
    const Tree before = grow(language, root, chain_plan(correct, wrong), rng);
    const std::vector<State> texts = row_states(language, before, root);
    const State text = texts.back();
    for (const std::int32_t stranger : strangers(language, texts, texts.size() - 1)) {
      Tree tree = before;
      const std::int32_t node = tree.add(static_cast<std::int32_t>(before.nodes()) - 1, stranger);
      State behind = language.extend(text, stranger);
      for (std::int32_t above = node; tree.nodes() < 6;) {
        above = tree.add(above, language.choice(behind));
        behind = language.extend(behind, tree.token.back());
      }
      if (!tree.has_child(node, language.choice(text))) tree.add(node, language.choice(text));
      trees.push_back(std::move(tree));
    }
  }
  return trees;
}

Batch past_strangers(const Language& language, Rng& rng) {
  Draft draft = draft_after(language, rng.integer(1, 30), rng);
  Batch batch{&language};
  for (Tree& tree : chains_past_strangers(language, draft.root, rng)) {
    draft.tree = std::move(tree);
    draft.max_emit = draft.tree.rows();
    batch.drafts.push_back(draft);
  }
  return batch;
}

Problem many_requests(const Language& language, std::int64_t budget, std::int64_t max_new,
                      Rng& rng) {
  Problem problem{&language, {}, budget, {}};
  const std::int64_t requests = rng.integer(65'537, 65'600);
  while (std::ssize(problem.prompts) < requests)
    problem.prompts.push_back(random_prompt(language, 1, max_new, rng));
  problem.drafter = [&language](std::size_t r, std::int64_t, State text) {
    const auto kind = static_cast<std::int64_t>(r % 3);
    return kind == 0 ? Tree{} : late_path(language, text, kind - 1, 2 - kind);
  };
  problem.logits = plain_logits(language);
  return problem;
}

Problem one_pass(const Language& language, std::int64_t requests, Rng& rng) {
  constexpr std::int64_t kTokens = 12;
  Problem problem{&language, {}, kTokens, {}};
  while (std::ssize(problem.prompts) < requests)
    problem.prompts.push_back(random_prompt(language, rng.integer(1, 20), kTokens, rng));
  problem.drafter = [&language](std::size_t, std::int64_t, State text) {
    return late_path(language, text, 0, kTokens);
  };
  return problem;
}

Problem long_request(const Language& language, Rng& rng) {
  constexpr std::int64_t kBudget = 1100;  // fewer passes and longer ones, which take longer
  return {&language,
          {random_prompt(language, 3, rng.integer(66'000, 66'500), rng)},
          kBudget,
          [&language](std::size_t, std::int64_t, State text) {
            return late_path(language, text, 0, kBudget);
          }};
}

Problem ample_limits(Language& language, Rng& rng) {
  const std::int32_t end = nonzero_token(language, rng);
  language.end_with({end}, 0);
  Problem problem{&language, {}, 4, {}};
  for (std::int64_t limit = 65'535; limit <= 65'539; ++limit) {
    problem.prompts.push_back(random_prompt(language, rng.integer(2, 9), limit, rng));
    State text = language.read(problem.prompts.back().tokens);
    for (int i = 0; i < 6; ++i) text = language.extend(text, language.choice(text));
    language.say(text, end);
  }
  problem.drafter = [&language](std::size_t, std::int64_t, State text) {
    return late_path(language, text, 0, 4);
  };
  return problem;
}

Problem large_ends(Language& language, Rng& rng) {
  const auto last = static_cast<std::int32_t>(language.vocab()) - 1;
  language.end_with({last, last - static_cast<std::int32_t>(rng.integer(1, 999))}, 0);
  Problem problem{&language, {}, 2, {}};
  for (const std::int32_t end : language.eos()) {
    problem.prompts.push_back(random_prompt(language, rng.integer(2, 9), 5, rng));
    const State text = language.read(problem.prompts.back().tokens);
    language.say(language.extend(text, language.choice(text)), end);
  }
  problem.drafter = [&language](std::size_t r, std::int64_t, State text) {
    return late_path(language, text, 0, r == 0 ? 1 : 2);
  };
  return problem;
}

Tree large_random_tree(const Language& language, State root, std::int64_t nodes,
                       std::int64_t correct, Rng& rng) {
  Tree tree;
  std::vector<State> states{root};
  std::vector<bool> right{true};
  std::int32_t tip = -1;
  while (tree.nodes() < nodes) {
    const std::int64_t left = nodes - tree.nodes();
    const bool lead = rng.integer(0, left - 1) < correct;
    const std::int32_t above =
        lead ? tip : static_cast<std::int32_t>(rng.integer(-1, tree.nodes() - 1));
    const auto row = static_cast<std::size_t>(above + 1);
    std::int32_t token = language.choice(states[row]);
    if (!lead && (right[row] || rng.chance(0.5))) token = wrong_token(language, states[row], rng);
    const std::int32_t node = tree.add(above, token);
    states.push_back(language.extend(states[row], token));
    right.push_back(lead);
    if (lead) tip = node, --correct;
  }
  return tree;
}

Rng draft_rng(const Seed& seed, std::size_t r, std::int64_t known) {
  return Rng(derive(seed, fmt::format("{}:{}", r, known)));
}

Drafter planned_drafter(const Language& language, const Seed& seed,
                        std::function<TreePlan(Rng& rng)> plan) {
  return [&language, seed, plan = std::move(plan)](std::size_t r, std::int64_t known, State text) {
    Rng rng = draft_rng(seed, r, known);
    const TreePlan drawn = plan(rng);
    return grow(language, text, drawn, rng);
  };
}

Drafter random_drafter(const Language& language, const Seed& seed, std::int64_t low,
                       std::int64_t high) {
  return planned_drafter(
      language, seed, [low, high](Rng& rng) { return random_plan(rng.integer(low, high), rng); });
}

Drafter chain_drafter(const Language& language, const Seed& seed, std::int64_t low,
                      std::int64_t high) {
  return planned_drafter(language, seed, [low, high](Rng& rng) {
    const std::int64_t nodes = rng.integer(low, high);
    const std::int64_t correct = rng.integer(0, std::min<std::int64_t>(nodes, 6));
    return chain_plan(correct, nodes - correct);
  });
}

namespace {

/// New ids for the tokens of the directed trees: distinct, random, and 0 for 0.
std::vector<std::int32_t> renaming(std::int64_t vocab, Rng& rng) {
  std::vector<std::int32_t> ids(static_cast<std::size_t>(vocab) - 1);
  std::iota(ids.begin(), ids.end(), 1);
  rng.shuffle(ids);
  ids.insert(ids.begin(), 0);
  ids.resize(kDirectedTokens);
  return ids;
}

}  // namespace

DirectedTrees::DirectedTrees(Rng& rng) : language(rng.integer(kDirectedTokens, 70), rng) {
  const auto id = renaming(language.vocab(), rng);
  const auto renamed = [&](std::int32_t token) { return id[static_cast<std::size_t>(token)]; };
  language.say_by_default(renamed(kDirectedDefault));
  for (const DirectedTree& directed : kDirectedTrees) {
    Prompt prompt = random_prompt(language, rng.integer(2, 70), 0, rng);
    const State before = language.read(prompt.tokens);
    prompt.tokens.push_back(renamed(kDirectedRoot));
    for (const auto& [text, next] : directed.says) {
      State state = before;
      for (const std::int32_t token : text) state = language.extend(state, renamed(token));
      language.say(state, renamed(next));
    }
    Draft draft;
    draft.tree = {directed.parent, directed.token};
    std::ranges::transform(draft.tree.token, draft.tree.token.begin(), renamed);
    draft.root_token = prompt.tokens.back();
    draft.root = language.read(prompt.tokens);
    draft.context_length = std::ssize(prompt.tokens) - 1;
    draft.max_emit = draft.tree.rows();
    drafts.push_back(std::move(draft));
    prompts.push_back(std::move(prompt));
    names.push_back(directed.name);
  }
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
