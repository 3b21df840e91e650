// SPDX-License-Identifier: Apache-2.0
#include "harness/publish/clean_text.h"

#include <algorithm>

#include "harness/publish/cpp_code.h"

namespace gauntlet {
namespace {

// What was put can make a new finding with what stands beside it; each round takes one away.
constexpr int kMostRounds = 8;

/// A text and its edits, and the way back from places of what comes of them.
class Editing {
 public:
  Editing(std::string_view text, std::vector<Edit> edits) : text_(text) { set(std::move(edits)); }

  const std::string& now() const { return now_; }
  std::vector<Edit> take_edits() { return std::move(edits_); }
  std::string take_text() { return std::move(now_); }

  /// The edit of the original that does what replacing this place of the edited text would: edits
  /// that it touches become parts of it.
  Edit further(const Match& match, const std::string& put) const {
    std::size_t first = match.begin;
    std::size_t last = match.end;
    for (std::size_t i = edits_before(match.begin); i < edits_.size() && begins_[i] < last; ++i) {
      first = std::min(first, begins_[i]);
      last = std::max(last, begins_[i] + edits_[i].put.size());
    }
    return {
        original(first), original(last),
        now_.substr(first, match.begin - first) + put + now_.substr(match.end, last - match.end),
        match.rule};
  }

  /// Takes over edits in their order, in place of those that they touch. One that touches another
  /// of the new ones waits for the next round.
  void add(std::vector<Edit> further) {
    std::vector<Edit> all;
    std::size_t next = 0;
    std::size_t until = 0;  // what lies before is edited
    for (Edit& edit : further) {
      if (edit.begin < until) continue;
      for (; next < edits_.size() && edits_[next].end <= edit.begin; ++next)
        all.push_back(std::move(edits_[next]));
      while (next < edits_.size() && edits_[next].begin < edit.end) ++next;
      until = edit.end;
      all.push_back(std::move(edit));
    }
    for (; next < edits_.size(); ++next) all.push_back(std::move(edits_[next]));
    set(std::move(all));
  }

 private:
  void set(std::vector<Edit> edits) {
    edits_ = std::move(edits);
    now_ = edited(text_, edits_);
    begins_.clear();
    std::size_t removed = 0;
    std::size_t added = 0;
    for (const Edit& edit : edits_) {
      begins_.push_back(edit.begin + added - removed);
      added += edit.put.size();
      removed += edit.end - edit.begin;
    }
  }

  /// How many end at this place of the edited text or before.
  std::size_t edits_before(std::size_t place) const {
    const auto next = std::upper_bound(begins_.begin(), begins_.end(), place);
    auto count = static_cast<std::size_t>(next - begins_.begin());
    if (count > 0 && begins_[count - 1] + edits_[count - 1].put.size() > place) --count;
    return count;
  }

  /// A place of the edited text that lies in no edit.
  std::size_t original(std::size_t place) const {
    const std::size_t before = edits_before(place);
    if (before == 0) return place;
    const Edit& last = edits_[before - 1];
    return last.end + (place - begins_[before - 1] - last.put.size());
  }

  std::string_view text_;
  std::vector<Edit> edits_;
  std::string now_;
  std::vector<std::size_t> begins_;  // of the edits in now_
};

std::vector<Edit> edits_of(const RuleBook& rules, const Editing& editing) {
  std::vector<Edit> edits;
  for (const Match& match : rules.find(editing.now()))
    edits.push_back(editing.further(match, rules.rule(match).put));
  return edits;
}

/// Everything that is found is edited, and what is found then.
CleanText clean_prose(const RuleBook& rules, std::string_view text) {
  Editing editing(text, {});
  std::vector<Edit> next = edits_of(rules, editing);
  for (int round = 0; round < kMostRounds && !next.empty(); ++round) {
    editing.add(std::move(next));
    next = edits_of(rules, editing);
  }
  CleanText clean;
  for (const Edit& edit : next) clean.left.push_back({edit.begin, edit.end, edit.rule});
  clean.edits = editing.take_edits();
  clean.text = editing.take_text();
  return clean;
}

CleanText clean_cpp(const RuleBook& rules, std::string_view text) {
  const CppCode code(text);
  CleanText clean;
  const std::vector<Match> found = rules.find(text);
  for (const Match& match : found)
    if (code.may_replace(match.begin, match.end))
      clean.edits.push_back({match.begin, match.end, rules.rule(match).put, match.rule});
    else
      clean.left.push_back(match);
  clean.text = edited(text, clean.edits);
  if (clean.edits.empty()) return clean;
  // A program is not guessed at: what does not come out the same, or not clean, is a person's.
  if (!code.same_but_literals(CppCode(clean.text)) ||
      rules.find(clean.text).size() > clean.left.size())
    return {{}, found, std::string(text)};
  return clean;
}

}  // namespace

CleanText clean_text(const RuleBook& rules, std::string_view text, bool cpp) {
  return cpp ? clean_cpp(rules, text) : clean_prose(rules, text);
}

std::string edited(std::string_view text, const std::vector<Edit>& edits) {
  std::string result;
  result.reserve(text.size());
  std::size_t at = 0;
  for (const Edit& edit : edits) {
    result.append(text.substr(at, edit.begin - at)).append(edit.put);
    at = edit.end;
  }
  return result.append(text.substr(at));
}

}  // namespace gauntlet
