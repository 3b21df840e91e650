// SPDX-License-Identifier: Apache-2.0
#include "evidence.h"

#include <algorithm>
#include <fmt/format.h>

#include "drawing.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

Column token_column(const Draft& draft) {
  Column column{"token", {fmt::format("{:>5}", draft.root_token)}};
  for (const std::int32_t token : draft.tree.token)
    column.cells.push_back(fmt::format("{:>5}", token));
  return column;
}

Column target_column(const Language& language, const std::vector<std::int32_t>& choices) {
  Column target{"target says", {}};
  for (const std::int32_t choice : choices)
    target.cells.push_back(fmt::format(
        "{:>11}", fmt::format("{}{}", choice, language.is_eos(choice) ? " (end)" : "")));
  return target;
}

/// Marks the root and the nodes of a path, with a cross where they are not on the right one. Nodes
/// that the tree does not have are left out.
Column path_column(std::string header, const Tree& tree, const std::vector<std::int32_t>& path,
                   const std::vector<std::int32_t>& right) {
  const std::string indent(header.size() / 2, ' ');
  Column column{std::move(header), std::vector<std::string>(static_cast<std::size_t>(tree.rows()))};
  column.cells[0] = indent + "●";
  for (const std::int32_t node : path)
    if (node >= 0 && node < tree.nodes())
      column.cells[static_cast<std::size_t>(node) + 1] =
          indent + (std::ranges::find(right, node) != right.end() ? "●" : "✗");
  return column;
}

std::string result_line(const std::string& word, const Walk& walk) {
  std::string nodes;
  for (const std::int32_t node : walk.path)
    nodes += fmt::format("{}{}", nodes.empty() ? "" : " > ", node);
  return fmt::format("{:<9} emits {}; path {}", word, listed(walk.emit),
                     nodes.empty() ? "empty" : "node " + nodes);
}

/// Whose row the first wrong token can have come from, when that explains it.
std::optional<std::string> explanation(const std::vector<std::int32_t>& choices, const Walk& want,
                                       const Walk& got) {
  const auto [wrong, right] =
      std::mismatch(got.emit.begin(), got.emit.end(), want.emit.begin(), want.emit.end());
  if (wrong == got.emit.end()) return std::nullopt;
  std::string nodes;
  for (std::size_t row = 0; row < choices.size(); ++row)
    if (choices[row] == *wrong)
      nodes +=
          (nodes.empty() ? "" : ", ") + (row == 0 ? "the root" : fmt::format("node {}", row - 1));
  const auto place = wrong - got.emit.begin();
  const std::int32_t judge = place == 0                       ? -1
                             : place <= std::ssize(want.path) ? want.path[std::size_t(place - 1)]
                                                              : -2;
  if (judge == -2)
    return fmt::format("token {}: nothing may follow the {} expected", place + 1, want.emit.size());
  const std::string here = judge < 0 ? "the root" : fmt::format("node {}", judge);
  return nodes.empty()
             ? fmt::format("token {}: the target says {} after no row of this tree", place + 1,
                           *wrong)
             : fmt::format("token {}: must be read after {}; the target says {} only after {}",
                           place + 1, here, *wrong, nodes);
}

std::string mask_row(const std::vector<bool>& sees) {
  std::string text;
  for (const bool bit : sees) text += bit ? '#' : '.';
  return text;
}

}  // namespace

std::vector<std::string> draw_walks(const Language& language, const Draft& draft, const Walk& got) {
  const Walk want = greedy(language, draft);
  const auto choices = says(language, draft);
  Column target = target_column(language, choices);
  std::vector<bool> shown(choices.size(), false);
  for (const Walk* walk : {&want, &got})
    for (const std::int32_t node : walk->path)
      if (node >= 0 && node < draft.tree.nodes()) shown[static_cast<std::size_t>(node) + 1] = true;

  auto lines = draw(draft.tree,
                    {token_column(draft), std::move(target),
                     path_column("expected", draft.tree, want.path, want.path),
                     path_column("got", draft.tree, got.path, want.path)},
                    std::move(shown));
  lines.push_back("");
  lines.push_back(result_line("expected", want));
  lines.push_back(result_line("got", got));
  if (auto why = explanation(choices, want, got)) lines.push_back(*std::move(why));
  return lines;
}

std::vector<std::string> draw_kept(const Language& language, const Draft& draft,
                                   const std::vector<std::int64_t>& slots) {
  const Walk want = greedy(language, draft);
  std::vector<std::int32_t> kept;
  std::string listing;
  std::vector<bool> shown(static_cast<std::size_t>(draft.tree.rows()), false);
  for (const std::int64_t slot : slots) {
    listing += fmt::format(" {}", slot);
    if (slot < 0 || slot > draft.tree.nodes()) continue;
    kept.push_back(static_cast<std::int32_t>(slot) - 1);
    shown[static_cast<std::size_t>(slot)] = true;
  }
  std::string wanted = " 0";
  for (const std::int32_t node : want.path) {
    wanted += fmt::format(" {}", node + 1);
    shown[static_cast<std::size_t>(node) + 1] = true;
  }
  auto lines = draw(draft.tree,
                    {token_column(draft), target_column(language, says(language, draft)),
                     path_column("expected", draft.tree, want.path, want.path),
                     path_column("kept", draft.tree, kept, want.path)},
                    std::move(shown));
  lines.push_back("");
  lines.push_back("slots (0 is the root, i+1 is node i) to keep:" + wanted);
  lines.push_back("slots kept:" + listing);
  return lines;
}

std::vector<std::string> draw_masks(const Draft& draft, const std::vector<std::vector<bool>>& got) {
  const auto want = visible(draft.tree);
  Column wanted{"must see", {}};
  Column seen{"sees", {}};
  std::vector<bool> shown(want.size(), false);
  for (std::size_t row = 0; row < want.size(); ++row) {
    wanted.cells.push_back(mask_row(want[row]));
    shown[row] = row < got.size() && got[row] != want[row];
    seen.cells.push_back(row < got.size() ? mask_row(got[row]) + (shown[row] ? "  ✗" : "") : "");
  }
  constexpr std::size_t kWidest = 48;  // slots; wider masks are no picture
  if (want.size() > kWidest) return draw(draft.tree, {token_column(draft)}, std::move(shown));
  return draw(draft.tree, {token_column(draft), std::move(wanted), std::move(seen)},
              std::move(shown));
}

std::vector<std::string> draw_positions(const Draft& draft, std::span<const std::int64_t> got) {
  Column wanted{"position", {}};
  Column written{"got", {}};
  const auto depth = depths(draft.tree);
  std::vector<bool> shown(depth.size(), false);
  for (std::size_t row = 0; row < depth.size(); ++row) {
    const std::int64_t want = draft.context_length + depth[row];
    wanted.cells.push_back(fmt::format("{:>8}", want));
    shown[row] = row < got.size() && got[row] != want;
    written.cells.push_back(
        row < got.size() ? fmt::format("{:>8}{}", got[row], shown[row] ? "  ✗" : "") : "");
  }
  return draw(draft.tree, {token_column(draft), std::move(wanted), std::move(written)},
              std::move(shown));
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
