// SPDX-License-Identifier: Apache-2.0
#include "oracle.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <numeric>

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

std::vector<std::int32_t> tokens_of(const Tree& tree, const std::vector<std::int32_t>& path) {
  std::vector<std::int32_t> tokens;
  for (const std::int32_t node : path) tokens.push_back(tree.token[static_cast<std::size_t>(node)]);
  return tokens;
}

bool starts_with(const std::vector<std::int32_t>& text, const std::vector<std::int32_t>& part) {
  return part.size() <= text.size() && std::equal(part.begin(), part.end(), text.begin());
}

/// The nodes of a tree by their depth, those of one depth in the tree's order.
std::vector<std::int32_t> deepest_first(const Tree& tree) {
  std::vector<std::int64_t> depth;
  for (const std::int32_t above : tree.parent)
    depth.push_back(above < 0 ? 1 : depth[static_cast<std::size_t>(above)] + 1);
  std::vector<std::int32_t> nodes(depth.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  std::ranges::stable_sort(nodes, std::ranges::greater{}, [&](std::int32_t node) {
    return depth[static_cast<std::size_t>(node)];
  });
  return nodes;
}

std::optional<std::string> path_fault(const Draft& draft, const Walk& got) {
  const Tree& tree = draft.tree;
  std::int32_t above = -1;
  for (const std::int32_t node : got.path) {
    if (node < 0 || node >= tree.nodes())
      return fmt::format("the path names node {}, the tree has {}", node, tree.nodes());
    if (tree.parent[static_cast<std::size_t>(node)] != above)
      return fmt::format("the path goes from {} to node {}, which is no child of it",
                         above < 0 ? "the root" : fmt::format("node {}", above), node);
    above = node;
  }
  return std::nullopt;
}

}  // namespace

Walk greedy(const Language& language, const Draft& draft) {
  const Tree& tree = draft.tree;
  const auto decoded = language.decode(draft.root, tree.nodes() + 1);
  std::vector<std::int32_t> best;
  for (const std::int32_t node : deepest_first(tree)) {
    auto path = path_to(tree, node);
    if (!starts_with(decoded, tokens_of(tree, path))) continue;
    best = std::move(path);
    break;
  }
  Walk walk;
  walk.emit = {decoded.begin(), decoded.begin() + std::ssize(best) + 1};
  walk.emit = until_end(language, std::move(walk.emit), draft.max_emit);
  walk.path = std::move(best);
  walk.path.resize(std::min(walk.path.size(), walk.emit.size()));
  return walk;
}

std::vector<std::int32_t> says(const Language& language, const Draft& draft) {
  std::vector<std::int32_t> choices;
  for (const State text : row_states(language, draft.tree, draft.root))
    choices.push_back(language.choice(text));
  return choices;
}

std::optional<std::string> fault(const Language& language, const Draft& draft, const Walk& got) {
  const Walk want = greedy(language, draft);
  const auto decoded =
      until_end(language, language.decode(draft.root, draft.tree.nodes() + 1), draft.max_emit);
  for (std::size_t i = 0; i < got.emit.size(); ++i) {
    if (i >= decoded.size())
      return fmt::format("emits {} tokens, greedy decoding {}", got.emit.size(), decoded.size());
    if (got.emit[i] != decoded[i])
      return fmt::format("emitted token {} is {}, greedy decoding says {}", i + 1, got.emit[i],
                         decoded[i]);
  }
  if (const auto broken = path_fault(draft, got)) return broken;
  if (!starts_with(got.emit, tokens_of(draft.tree, got.path)))
    return fmt::format("the path spells {}, emitted is {}", listed(tokens_of(draft.tree, got.path)),
                       listed(got.emit));
  // Where the path ends greedy decoding must have no child left to follow, and the bonus is due.
  const std::int32_t tip = got.path.empty() ? -1 : got.path.back();
  if (got.path.size() < decoded.size() && draft.tree.has_child(tip, decoded[got.path.size()]))
    return fmt::format("stops after {} accepted nodes, a child carries the next token {}",
                       got.path.size(), decoded[got.path.size()]);
  const std::size_t due = std::min(got.path.size() + 1, decoded.size());
  if (got.emit.size() != due)
    return fmt::format("emits {} tokens with {} accepted nodes, want {}", got.emit.size(),
                       got.path.size(), due);
  if (got.path.size() > want.path.size()) return "accepts more nodes than greedy decoding can";
  return std::nullopt;
}

Expected expect(const Problem& problem, std::size_t r) {
  const Language& language = *problem.language;
  const Prompt& prompt = problem.prompts[r];
  State text = language.read(prompt.tokens);
  std::int32_t last = prompt.tokens.back();
  Expected expected;
  std::vector<std::int32_t>& emit = expected.emit;
  while (std::ssize(emit) < prompt.max_new && !(expected.rounds > 0 && language.is_eos(last))) {
    const std::int64_t known = std::ssize(prompt.tokens) + std::ssize(emit);
    const Draft draft = draft_of(problem, r, known, text, last);
    const Walk walk = greedy(language, draft);
    for (const std::int32_t token : walk.emit) text = language.extend(text, token);
    last = walk.emit.back();
    emit.insert(emit.end(), walk.emit.begin(), walk.emit.end());
    ++expected.rounds;
    expected.rows += draft.tree.rows();
    expected.accepted += std::ssize(walk.path);
  }
  return expected;
}

std::vector<std::vector<bool>> visible(const Tree& tree) {
  const auto rows = static_cast<std::size_t>(tree.rows());
  std::vector<std::vector<bool>> sees(rows, std::vector<bool>(rows, false));
  for (std::size_t row = 0; row < rows; ++row) {
    sees[row][0] = true;
    for (const std::int32_t node : path_to(tree, static_cast<std::int32_t>(row) - 1))
      sees[row][static_cast<std::size_t>(node) + 1] = true;
  }
  return sees;
}

std::vector<std::int64_t> depths(const Tree& tree) {
  std::vector<std::int64_t> depth;
  for (std::int32_t node = -1; node < tree.nodes(); ++node)
    depth.push_back(std::ssize(path_to(tree, node)));
  return depth;
}

std::string listed(const std::vector<std::int32_t>& tokens) {
  constexpr std::size_t kShown = 16;
  if (tokens.empty()) return "nothing";
  std::string text;
  for (std::size_t i = 0; i < std::min(tokens.size(), kShown); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", tokens[i]);
  if (tokens.size() > kShown) text += fmt::format(", ... ({} in all)", tokens.size());
  return text;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
