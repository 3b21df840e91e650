// SPDX-License-Identifier: Apache-2.0
#include "drawing.h"

#include <algorithm>
#include <fmt/format.h>

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr std::size_t kMostRows = 40;

/// Columns that a string takes on a terminal: its UTF-8 characters.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string padded(std::string text, std::size_t columns) {
  if (const std::size_t used = width(text); used < columns) text.append(columns - used, ' ');
  return text;
}

/// The left-hand side of the drawing: branches and node numbers, in depth-first order.
class Branches {
 public:
  struct Line {
    std::size_t row;  // whose cells stand beside it; rows() for a line without cells
    std::string text;
  };

  Branches(const Tree& tree, const std::vector<bool>& shown)
      : shown_(shown), children_(static_cast<std::size_t>(tree.rows())) {
    for (std::size_t i = 0; i < tree.parent.size(); ++i)
      children_[static_cast<std::size_t>(tree.parent[i] + 1)].push_back(i + 1);
  }

  std::vector<Line> lines() {
    lines_.push_back({0, "root"});
    descend(0, "");
    return std::move(lines_);
  }

 private:
  void descend(std::size_t row, const std::string& indent) {
    std::vector<std::size_t> drawn;
    for (const std::size_t child : children_[row])
      if (shown_[child]) drawn.push_back(child);
    const std::size_t hidden = children_[row].size() - drawn.size();
    for (const std::size_t child : drawn) {
      const bool last = child == drawn.back() && hidden == 0;
      lines_.push_back({child, fmt::format("{}{} node {}", indent, last ? "└─" : "├─", child - 1)});
      descend(child, indent + (last ? "   " : "│  "));
    }
    if (hidden > 0)
      lines_.push_back({children_.size(), fmt::format("{}└─ ({} more)", indent, hidden)});
  }

  const std::vector<bool>& shown_;
  std::vector<std::vector<std::size_t>> children_;
  std::vector<Line> lines_;
};

/// Shows what leads to the chosen rows, and their children while there is room.
std::vector<bool> opened(const Tree& tree, std::vector<bool> shown) {
  const auto rows = static_cast<std::size_t>(tree.rows());
  if (shown.empty() || rows <= kMostRows) return std::vector<bool>(rows, true);
  std::vector<bool> all(rows, false);
  std::size_t count = 0;
  for (std::size_t row = 0; row < rows && count < kMostRows; ++row) {
    if (!shown[row]) continue;
    for (const std::int32_t node : path_to(tree, static_cast<std::int32_t>(row) - 1))
      all[static_cast<std::size_t>(node) + 1] = true;
    count = static_cast<std::size_t>(std::count(all.begin(), all.end(), true));
  }
  const std::vector<bool> path = all;
  for (std::size_t row = 1; row < rows && count < kMostRows; ++row)
    if (!all[row] && path[static_cast<std::size_t>(tree.parent[row - 1] + 1)]) {
      all[row] = true;
      ++count;
    }
  return all;
}

std::string line_of(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i)
    line += padded(cells[i], widths[i]) + (i + 1 < cells.size() ? "  " : "");
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::vector<std::string> draw(const Tree& tree, const std::vector<Column>& columns,
                              std::vector<bool> shown) {
  shown = opened(tree, std::move(shown));
  std::vector<std::vector<std::string>> table{{"tree"}};
  for (const Column& column : columns) table[0].push_back(column.header);
  for (const auto& [row, text] : Branches(tree, shown).lines()) {
    table.push_back({text});
    for (const Column& column : columns)
      table.back().push_back(row < column.cells.size() ? column.cells[row] : "");
  }
  std::vector<std::size_t> widths(table[0].size(), 0);
  for (const auto& cells : table)
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], width(cells[i]));
  std::vector<std::string> lines;
  for (const auto& cells : table) lines.push_back(line_of(cells, widths));
  return lines;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
