// SPDX-License-Identifier: Apache-2.0
#include "pass_rows.h"

#include <algorithm>
#include <bit>
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

/// The earlier row that this one continues; -1 when it continues the committed text. Where there
/// are more, some row is at fault, whichever is taken. Mostly it is among the last that the row
/// sees, or one of few.
std::int64_t predecessor(const PassRows& rows, std::size_t row) {
  const auto mask = rows.words_of(row);
  for (std::size_t word = row / 64 + 1; word-- > 0;) {
    std::uint64_t earlier = mask[word];
    if (word == row / 64) earlier &= (std::uint64_t{1} << row % 64) - 1;
    for (; earlier != 0; earlier &= ~std::bit_floor(earlier)) {
      const std::size_t slot = 64 * word + static_cast<std::size_t>(std::bit_width(earlier)) - 1;
      if (rows.position[slot] == rows.position[row] - 1) return static_cast<std::int64_t>(slot);
    }
  }
  return -1;
}

/// The first slot but its own that the row sees and `before` does not, or the other way round.
std::optional<std::size_t> odd_slot(const PassRows& rows, std::size_t row, std::int64_t before) {
  const auto mask = rows.words_of(row);
  for (std::size_t word = 0; word < mask.size(); ++word) {
    std::uint64_t differs = mask[word];
    if (before >= 0) differs ^= rows.words_of(static_cast<std::size_t>(before))[word];
    if (word == row / 64) differs &= ~(std::uint64_t{1} << row % 64);
    if (differs != 0) return 64 * word + static_cast<std::size_t>(std::countr_zero(differs));
  }
  return std::nullopt;
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
  if (const auto slot = odd_slot(rows, row, before)) {
    const bool inherited = !rows.sees(row, *slot);
    return fmt::format("mask: row {} {} slot {}, {} row {}, its predecessor, does", row,
                       inherited ? "does not see" : "sees", *slot,
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
