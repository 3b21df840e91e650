#include "directed.h"

#include <algorithm>
#include <numeric>

namespace gauntlet::GAUNTLET_CHALLENGE {

const std::vector<Directed>& directed_cases() {
  static const std::vector<Directed> kCases{
      {"list order",
       {{-1, -1, 1}, {2, 3, 9}},
       {{{5}, 2}, {{5, 2}, 3}, {{5, 2, 3}, 4}, {{5, 3}, 9}, {{5, 3, 9}, 7}},
       {{2, 3}, {0}}},
      {"row i for node i", {{-1, -1}, {3, 8}}, {{{5}, 6}, {{5, 3}, 8}, {{5, 8}, 4}}, {{6}, {}}},
      {"row by depth",
       {{-1, -1, 1}, {2, 3, 8}},
       {{{5}, 3}, {{5, 2}, 8}, {{5, 3}, 6}, {{5, 3, 6}, 4}, {{5, 3, 8}, 7}},
       {{3, 6}, {1}}},
      {"rejected subtree matches",
       {{-1, 0, 1, -1}, {7, 3, 4, 2}},
       {{{5}, 2}, {{5, 7}, 3}, {{5, 7, 3}, 4}, {{5, 7, 3, 4}, 6}, {{5, 2}, 8}},
       {{2, 8}, {3}}},
      {"last sibling is right",
       {{-1, -1, -1, 2}, {9, 8, 2, 3}},
       {{{5}, 2}, {{5, 2}, 3}, {{5, 2, 3}, 4}, {{5, 9}, 9}, {{5, 8}, 8}},
       {{2, 3, 4}, {2, 3}}},
      {"scattered path",
       {{-1, -1, 0, 1, 3}, {8, 2, 6, 3, 4}},
       {{{5}, 2}, {{5, 2}, 3}, {{5, 2, 3}, 4}, {{5, 2, 3, 4}, 7}},
       {{2, 3, 4, 7}, {1, 3, 4}}},
      {"padding looks like token 0",
       {{-1, -1, 1, 2}, {2, 3, 4, 5}},
       {{{5}, 2}, {{5, 2}, 0}, {{5, 2, 0}, 7}, {{5, 3}, 4}, {{5, 3, 4}, 5}, {{5, 3, 4, 5}, 3}},
       {{2, 0}, {0}}},
  };
  return kCases;
}

namespace {

/// New ids for the directed tokens: distinct, random, and 0 for 0.
std::vector<std::int32_t> renaming(std::int64_t vocab, Rng& rng) {
  std::vector<std::int32_t> ids(static_cast<std::size_t>(vocab) - 1);
  std::iota(ids.begin(), ids.end(), 1);
  rng.shuffle(ids);
  ids.insert(ids.begin(), 0);
  ids.resize(kDirectedTokens);
  return ids;
}

}  // namespace

DirectedStage::DirectedStage(Rng& rng) : language(rng.integer(kDirectedTokens, 70), rng) {
  const auto id = renaming(language.vocab(), rng);
  const auto renamed = [&](std::int32_t token) { return id[static_cast<std::size_t>(token)]; };
  language.say_by_default(renamed(kDirectedDefault));
  for (const Directed& directed : directed_cases()) {
    Prompt prompt;
    for (std::int64_t left = rng.integer(2, 70); left > 0; --left)
      prompt.tokens.push_back(static_cast<std::int32_t>(rng.integer(0, language.vocab() - 1)));
    const State before = language.read(prompt.tokens);
    prompt.tokens.push_back(renamed(kDirectedRoot));
    for (const auto& [text, next] : directed.says) {
      State state = before;
      for (const std::int32_t token : text) state = language.extend(state, renamed(token));
      language.say(state, renamed(next));
    }
    Draft draft;
    draft.tree = directed.tree;
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
