#include "cases.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

Draft draft_after(const Language& language, std::int64_t length, Rng& rng) {
  std::vector<std::int32_t> text;
  while (std::ssize(text) < length)
    text.push_back(static_cast<std::int32_t>(rng.integer(0, language.vocab() - 1)));
  Draft draft;
  draft.root_token = text.back();
  draft.root = language.read(text);
  draft.context_length = length - 1;
  draft.max_emit = 1;
  return draft;
}

Draft draw_draft(const Language& language, const TreePlan& plan, Rng& rng) {
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

std::int32_t wrong_token(const Language& language, State text, Rng& rng) {
  const std::int64_t away = rng.integer(1, language.vocab() - 1);
  return static_cast<std::int32_t>((language.choice(text) + away) % language.vocab());
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

Tree thicket(const Language& language, State root, std::int64_t nodes, std::int64_t correct,
             Rng& rng) {
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

}  // namespace gauntlet::GAUNTLET_CHALLENGE
