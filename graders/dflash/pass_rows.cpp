// SPDX-License-Identifier: Apache-2.0
#include "pass_rows.h"

#include <algorithm>
#include <fmt/format.h>

#include "evidence.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// The rows are the root and the drafted nodes, in the drafter's order.
bool is_plain(const PassRows& rows, const Tree& tree, std::int32_t root_token) {
  return static_cast<std::int64_t>(rows.count()) == tree.rows() && rows.token[0] == root_token &&
         std::equal(tree.token.begin(), tree.token.end(), rows.token.begin() + 1);
}

std::vector<std::vector<bool>> bits_of(const PassRows& rows) {
  std::vector<std::vector<bool>> bits(rows.count(), std::vector<bool>(rows.count()));
  for (std::size_t row = 0; row < rows.count(); ++row)
    for (std::size_t slot = 0; slot < rows.count(); ++slot) bits[row][slot] = rows.sees(row, slot);
  return bits;
}

std::optional<Violation> plain_fault(const PassRows& rows, const Draft& draft) {
  const auto want = visible(draft.tree);
  const auto depth = depths(draft.tree);
  for (std::size_t row = 0; row < rows.count(); ++row) {
    for (std::size_t slot = 0; slot < rows.count(); ++slot)
      if (rows.sees(row, slot) != want[row][slot])
        return Violation{fmt::format("mask: row {} {} slot {}, which is {}", row,
                                     want[row][slot] ? "does not see" : "sees", slot,
                                     slot == row       ? "its own"
                                     : want[row][slot] ? "its ancestor's"
                                                       : "not on its path"),
                         draw_masks(draft, bits_of(rows))};
    if (rows.position[row] != draft.context_length + depth[row])
      return Violation{fmt::format("position: row {} stands at {}, want {}: depth {} after {} "
                                   "committed tokens",
                                   row, rows.position[row], draft.context_length + depth[row],
                                   depth[row], draft.context_length),
                       draw_positions(draft, rows.position)};
  }
  return std::nullopt;
}

/// The earlier row that this one continues; -1 when it continues the committed text.
std::int64_t predecessor(const PassRows& rows, std::size_t row) {
  for (std::size_t slot = 0; slot < row; ++slot)
    if (rows.sees(row, slot) && rows.position[slot] == rows.position[row] - 1)
      return static_cast<std::int64_t>(slot);
  return -1;
}

std::optional<std::string> free_fault(const PassRows& rows, const Draft& draft, std::size_t row) {
  if (!rows.sees(row, row)) return fmt::format("mask: row {} does not see its own slot", row);
  const std::int64_t position = rows.position[row];
  if (position < draft.context_length)
    return fmt::format("position: row {} stands at {}, where text is committed", row, position);
  const std::int64_t before = predecessor(rows, row);
  if (position > draft.context_length && before < 0)
    return fmt::format("position: row {} stands at {} and sees no slot at {}", row, position,
                       position - 1);
  for (std::size_t slot = 0; slot < rows.count(); ++slot) {
    const bool inherited = before >= 0 && rows.sees(static_cast<std::size_t>(before), slot);
    if (slot != row && rows.sees(row, slot) != inherited)
      return fmt::format("mask: row {} {} slot {}, {} row {}, its predecessor, does", row,
                         inherited ? "does not see" : "sees", slot,
                         inherited ? "which" : "which only", before);
  }
  if (position == draft.context_length && rows.token[row] != draft.root_token)
    return fmt::format("row {} carries token {} as the root; the last decided token is {}", row,
                       rows.token[row], draft.root_token);
  return std::nullopt;
}

std::optional<std::string> stray_bit(const PassRows& rows, std::size_t row) {
  for (std::size_t slot = rows.count(); slot < 64 * static_cast<std::size_t>(rows.words); ++slot)
    if (rows.sees(row, slot))
      return fmt::format("mask: row {} sees slot {}; the request has {} rows", row, slot,
                         rows.count());
  return std::nullopt;
}

}  // namespace

std::optional<Violation> rows_fault(const PassRows& rows, const Draft& draft) {
  for (std::size_t row = 0; row < rows.count(); ++row)
    if (auto stray = stray_bit(rows, row)) return Violation{*std::move(stray), {}};
  for (std::size_t row = 0; row < rows.count(); ++row) {
    auto fault = free_fault(rows, draft, row);
    if (!fault) continue;
    // Rows that only look like the drafted tree are right in their own way; wrong ones are
    // explained.
    if (is_plain(rows, draft.tree, draft.root_token))
      if (auto plain = plain_fault(rows, draft)) return plain;
    return Violation{*std::move(fault), {}};
  }
  return std::nullopt;
}

std::vector<State> texts_of(const PassRows& rows, const Language& language, const Draft& draft) {
  std::vector<State> texts;
  for (std::size_t row = 0; row < rows.count(); ++row) {
    const std::int64_t before = predecessor(rows, row);
    texts.push_back(
        before < 0 ? draft.root
                   : language.extend(texts[static_cast<std::size_t>(before)], rows.token[row]));
  }
  return texts;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
