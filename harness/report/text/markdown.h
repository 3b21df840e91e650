// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gauntlet::markdown {

/// Text from anywhere as plain text of one line: no markup, link, mention, reference or table
/// border in it has an effect. Safe inside a table cell.
std::string text(std::string_view text);

/// Text from anywhere as `code` of one line, in a fence longer than any of its own. Not for table
/// cells: a `|` would end the cell.
std::string code(std::string_view text);

/// Lines from anywhere as a fenced block, every line behind `indent`. Ends with a newline.
std::string block(std::string_view text, std::string_view indent = "");

/// A table, each cell already Markdown. All columns but the first `left` are aligned to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> header, std::size_t left = 1)
      : header_(std::move(header)), left_(left) {}
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  std::string str() const;  // ends with a newline

 private:
  std::vector<std::string> header_;
  std::size_t left_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace gauntlet::markdown
