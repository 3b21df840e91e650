// SPDX-License-Identifier: Apache-2.0
#include "harness/publish/diff.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/core/text.h"

namespace gauntlet {
namespace {

constexpr std::size_t kContext = 3;      // lines around an edit
constexpr std::size_t kMostHunks = 100;  // of one file: who reads more reads the list
constexpr std::size_t kShownLine = 300;  // bytes
constexpr std::size_t kBeforeEdit = 80;  // of a longer line

/// Replaces for showing: of the old text what is secret, of the new one what was put.
struct Mask {
  std::size_t begin;
  std::size_t end;
  std::string shown;
  bool edit;  // and nothing that is left
};

struct Hunk {
  std::size_t first_line;  // from 0, the edited lines
  std::size_t last_line;
};

/// What is printed of one text: its bytes from `begin` to `end`, masked.
std::string shown(std::string_view text, const std::vector<Mask>& masks, std::size_t begin,
                  std::size_t end) {
  auto mask = std::partition_point(masks.begin(), masks.end(),
                                   [&](const Mask& one) { return one.end <= begin; });
  std::string line;
  std::size_t at = begin;
  if (end - begin > kShownLine) {
    const bool any = mask != masks.end() && mask->begin < end;
    if (any && mask->begin > begin + kBeforeEdit) {
      at = mask->begin - kBeforeEdit;
      line = "... ";
    }
  }
  for (; mask != masks.end() && mask->begin < end && line.size() < kShownLine; ++mask) {
    const std::size_t from = std::max(mask->begin, at);
    line += one_line(text.substr(at, std::min(from - at, kShownLine)), kShownLine);
    // A secret of several lines is shown in its first.
    if (mask->begin >= begin) line += mask->shown;
    at = std::min(mask->end, end);
  }
  const std::size_t room = kShownLine - std::min(kShownLine, line.size());
  line += one_line(text.substr(at, std::min(end - at, room)), kShownLine);
  if (end - at > room) line += " ...";
  return line;
}

class Differ {
 public:
  Differ(std::string_view text, const CleanText& clean) : text_(text), clean_(clean) {
    starts_.push_back(0);
    for (std::size_t at = text.find('\n'); at != std::string_view::npos;
         at = text.find('\n', at + 1))
      if (at + 1 < text.size()) starts_.push_back(at + 1);
    for (const Edit& edit : clean.edits) {
      const std::string secret = first_characters(text.substr(edit.begin, edit.end - edit.begin));
      old_.push_back({edit.begin, edit.end, secret, true});
      new_.push_back({edit.begin, edit.end, edit.put, true});
    }
    for (const Match& left : clean.left)
      for (std::vector<Mask>* masks : {&old_, &new_})
        masks->push_back({left.begin, left.end,
                          first_characters(text.substr(left.begin, left.end - left.begin)), false});
    for (std::vector<Mask>* masks : {&old_, &new_})
      std::sort(masks->begin(), masks->end(),
                [](const Mask& a, const Mask& b) { return a.begin < b.begin; });
  }

  std::string text() {
    std::string diff;
    std::size_t hunks = 0;
    for (std::size_t i = 0; i < clean_.edits.size(); ++hunks) {
      std::vector<Hunk> near;
      const std::size_t first_edit = i;
      while (i < clean_.edits.size() &&
             (near.empty() ||
              line_at(clean_.edits[i].begin) <= near.back().last_line + 2 * kContext)) {
        const std::size_t first = line_at(clean_.edits[i].begin);
        const std::size_t last = line_at(std::max(clean_.edits[i].end, std::size_t{1}) - 1);
        if (!near.empty() && first <= near.back().last_line)
          near.back().last_line = std::max(near.back().last_line, last);
        else
          near.push_back({first, last});
        ++i;
      }
      if (hunks == kMostHunks)
        return diff + fmt::format("... and {} more places of this file, which are listed below\n",
                                  clean_.edits.size() - first_edit);
      diff += hunk(near);
    }
    return diff;
  }

 private:
  std::size_t line_at(std::size_t place) const {
    return static_cast<std::size_t>(std::upper_bound(starts_.begin(), starts_.end(), place) -
                                    starts_.begin()) -
           1;
  }
  std::size_t line_end(std::size_t line) const {
    const std::size_t end = line + 1 < starts_.size() ? starts_[line + 1] : text_.size();
    return end > starts_[line] && text_[end - 1] == '\n' ? end - 1 : end;
  }
  std::string line(std::size_t number, const std::vector<Mask>& masks) const {
    return shown(text_, masks, starts_[number], line_end(number));
  }

  std::string hunk(const std::vector<Hunk>& near) {
    const std::size_t from = near.front().first_line - std::min(kContext, near.front().first_line);
    const std::size_t to = std::min(near.back().last_line + kContext, starts_.size() - 1);
    std::string body;
    std::size_t added = 0;
    std::size_t at = from;
    for (const Hunk& part : near) {
      for (; at < part.first_line; ++at) body += " " + line(at, old_) + "\n", ++added;
      for (; at <= part.last_line; ++at) body += "-" + line(at, old_) + "\n";
      // Several lines that a secret joins are one line afterwards.
      body += "+" + shown(text_, new_, starts_[part.first_line], line_end(part.last_line)) + "\n";
      ++added;
    }
    for (; at <= to; ++at) body += " " + line(at, old_) + "\n", ++added;
    const std::string head =
        fmt::format("@@ -{},{} +{},{} @@\n", from + 1, to - from + 1, from + 1 - lost_, added);
    lost_ += to - from + 1 - added;
    return head + body;
  }

  std::string_view text_;
  const CleanText& clean_;
  std::vector<std::size_t> starts_;  // of lines
  std::vector<Mask> old_;
  std::vector<Mask> new_;
  std::size_t lost_ = 0;  // lines that are gone before here
};

}  // namespace

std::string first_characters(std::string_view secret) {
  const std::size_t shown = std::min<std::size_t>(4, secret.size() / 4);
  std::string first(secret.substr(0, shown));
  // Half a character of UTF-8 is none.
  std::erase_if(first, [](char c) { return c < ' ' || c > '~'; });
  return first + "***";
}

std::string masked(const RuleBook& rules, std::string_view text) {
  std::string result;
  std::size_t at = 0;
  for (const Match& match : rules.find(text)) {
    result += one_line(text.substr(at, match.begin - at));
    result += first_characters(text.substr(match.begin, match.end - match.begin));
    at = match.end;
  }
  return result + one_line(text.substr(at));
}

std::string masked_diff(std::string_view file, std::string_view text, const CleanText& clean) {
  if (clean.edits.empty()) return "";
  return fmt::format("--- {}\n+++ {}\n", file, file) + Differ(text, clean).text();
}

}  // namespace gauntlet
