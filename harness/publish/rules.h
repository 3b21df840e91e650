// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <re2/re2.h>
#include <re2/set.h>
#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

/// What may not be published, and what takes its place.
struct Rule {
  std::string id;
  std::vector<std::string> keywords;  // one of them stands in every match, in either case
  std::string regex;                  // what its first group holds goes; without groups, all of it
  double entropy = 0;                 // bits a byte, which a key has at least
  std::string allow;                  // what is no finding; empty: nothing
  std::string put = "REMOVED";        // plain in every format, and found by no rule
  bool personal = false;              // tells who, and is no key
};

/// Whose working folder it is: what no general pattern knows.
struct Owner {
  std::filesystem::path folder;    // that is made publishable; its path becomes "."
  std::string home;                // the user's; empty: unknown
  std::string host;                // this machine's name; empty: unknown
  std::vector<std::string> names;  // to be replaced wherever they are words
};

/// Where a rule found something.
struct Match {
  std::size_t begin;
  std::size_t end;
  std::size_t rule;  // in RuleBook::rules()
};

/// All rules, compiled. RE2 takes time in proportion to the text whatever the text is, knows no
/// recursion, and is what the patterns were written for.
class RuleBook {
 public:
  /// Throws UserError for a name that cannot be told from what takes its place.
  explicit RuleBook(const Owner& owner);

  const std::vector<Rule>& rules() const { return rules_; }
  const Rule& rule(const Match& match) const { return rules_[match.rule]; }

  /// What is found in bytes of any kind, in their order and without overlaps; where two overlap,
  /// the rule that is listed first has it. Without `personal`, keys alone.
  std::vector<Match> find(std::string_view text, bool personal = true) const;

 private:
  void compile();
  void find_within(std::string_view text, std::size_t begin, std::size_t until, std::size_t end,
                   bool personal, std::vector<Match>& found) const;
  void find_one(std::size_t rule, std::string_view text, std::size_t begin, std::size_t until,
                std::size_t end, std::vector<Match>& found) const;

  std::vector<Rule> rules_;
  std::vector<std::unique_ptr<RE2>> patterns_;
  std::vector<std::unique_ptr<RE2>> allowed_;  // null: nothing
  std::unique_ptr<RE2::Set> keywords_;
  std::vector<std::size_t> rule_of_keyword_;
};

}  // namespace gauntlet
