// SPDX-License-Identifier: Apache-2.0
#include "harness/publish/rules.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <stdexcept>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/core/yaml.h"

namespace gauntlet {

namespace rules {
extern const std::string_view gitleaks_yaml;
extern const std::string_view ours_yaml;
}  // namespace rules

namespace {

// A text is searched window by window, so that a rule looks only at those that hold one of its
// keywords. What begins near a window's end is seen whole, as far as keys are long.
constexpr std::size_t kWindow = 1 << 20;
constexpr std::size_t kLongest = 1 << 16;

Rule rule_of(YamlFields& fields) {
  Rule rule;
  rule.id = fields.text("id");
  rule.keywords = fields.texts("keywords");
  rule.regex = fields.text("regex");
  if (fields.has("entropy")) rule.entropy = fields.number("entropy");
  if (fields.has("allow")) rule.allow = fields.text("allow");
  if (fields.has("put")) rule.put = fields.text("put");
  if (fields.has("personal")) rule.personal = fields.truth("personal");
  fields.refuse_unknown();
  return rule;
}

std::vector<Rule> rules_of(std::string_view yaml, const std::string& shown_name) {
  std::vector<Rule> rules;
  YamlFields file = YamlFields::of_text(std::string(yaml), shown_name);
  for (YamlFields& fields : file.list("rules")) rules.push_back(rule_of(fields));
  file.refuse_unknown();
  return rules;
}

std::string quoted(const std::string& text) {
  return RE2::QuoteMeta(text);
}

Rule literal_rule(std::string id, const std::string& text, std::string regex, std::string put) {
  Rule rule;
  rule.id = std::move(id);
  rule.keywords = {text};
  rule.regex = std::move(regex);
  rule.put = std::move(put);
  rule.personal = true;
  return rule;
}

Rule path_rule(const std::string& id, const std::string& path, const std::string& put) {
  return literal_rule(id, path, "(" + quoted(path) + ")(?:[^\\w.-]|\\.(?:\\W|$)|$)", put);
}

Rule word_rule(const std::string& id, const std::string& word, const std::string& put) {
  return literal_rule(id, word, "(?i)(?:^|[^A-Za-z0-9])(" + quoted(word) + ")(?:[^A-Za-z0-9]|$)",
                      put);
}

/// Names that many machines have tell nobody's: those have a number or a sign in them.
bool tells_whose(const std::string& host) {
  return host.size() >= 5 && host.find_first_of("0123456789-.") != std::string::npos;
}

/// Paths like / or /root tell nothing, and stand everywhere.
bool tells_whose(const std::filesystem::path& path) {
  return path.is_absolute() && path.string().size() >= 6 && path.has_filename() &&
         path.parent_path() != path.root_path();
}

std::vector<Rule> rules_about(const Owner& owner) {
  std::vector<Rule> rules;
  if (tells_whose(owner.folder))
    rules.push_back(path_rule("this-folder", owner.folder.string(), "."));
  if (tells_whose(std::filesystem::path(owner.home)) && owner.home != "/home/user")
    rules.push_back(path_rule("your-home", owner.home, "/home/user"));
  if (tells_whose(owner.host)) rules.push_back(word_rule("this-host", owner.host, "host"));
  for (const std::string& name : owner.names) rules.push_back(word_rule("name", name, "user"));
  return rules;
}

/// Bits a byte, as Shannon counts them: 0 for "aaaa", about 6 for a key in base 64.
double entropy(std::string_view text) {
  std::array<std::size_t, 256> counts{};
  for (const char c : text) ++counts[static_cast<unsigned char>(c)];
  double bits = 0;
  for (const std::size_t count : counts)
    if (count > 0) {
      const double share = static_cast<double>(count) / static_cast<double>(text.size());
      bits -= share * std::log2(share);
    }
  return bits;
}

/// Bytes are what is searched, and no characters: a key beside broken UTF-8 is a key.
RE2::Options options() {
  RE2::Options options(RE2::CannedOptions::Latin1);
  options.set_log_errors(false);
  options.set_max_mem(64 << 20);
  return options;
}

std::unique_ptr<RE2> compiled(const Rule& rule, const std::string& regex) {
  auto pattern = std::make_unique<RE2>(regex, options());
  if (!pattern->ok()) throw std::logic_error(fmt::format("rule {}: {}", rule.id, pattern->error()));
  return pattern;
}

re2::StringPiece piece(std::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace

RuleBook::RuleBook(const Owner& owner) {
  for (const std::string& name : owner.names)
    if (name.size() < 2 || name.size() > 100)
      throw UserError(fmt::format("--name '{}': a name to replace has 2 to 100 characters",
                                  one_line(name, 120)));
  rules_ = rules_about(owner);
  for (const auto& [yaml, name] :
       {std::pair{rules::gitleaks_yaml, "gitleaks.yaml"}, std::pair{rules::ours_yaml, "ours.yaml"}})
    for (Rule& rule : rules_of(yaml, name)) rules_.push_back(std::move(rule));
  compile();
  for (std::size_t i = 0; i < rules_.size(); ++i)
    for (const Match& match : find(rules_[i].put))
      if (rule(match).id == "name")
        throw UserError(
            fmt::format("--name '{}': this is what takes the place of others' names; leave it away",
                        one_line(rules_[i].put.substr(match.begin, match.end - match.begin), 120)));
}

void RuleBook::compile() {
  keywords_ = std::make_unique<RE2::Set>(options(), RE2::UNANCHORED);
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    patterns_.push_back(compiled(rules_[i], rules_[i].regex));
    allowed_.push_back(rules_[i].allow.empty() ? nullptr : compiled(rules_[i], rules_[i].allow));
    for (const std::string& keyword : rules_[i].keywords) {
      if (keywords_->Add("(?i)" + quoted(keyword), nullptr) < 0)
        throw std::logic_error(fmt::format("rule {}: its keyword is no pattern", rules_[i].id));
      rule_of_keyword_.push_back(i);
    }
  }
  if (!keywords_->Compile()) throw std::logic_error("the rules' keywords take too much memory");
}

std::vector<Match> RuleBook::find(std::string_view text, bool personal) const {
  std::vector<Match> found;
  for (std::size_t begin = 0; begin < text.size() || begin == 0;) {
    const std::size_t end = std::min(begin + kWindow + kLongest, text.size());
    const std::size_t until = end == text.size() ? end : begin + kWindow;
    find_within(text, begin, until, end, personal, found);
    if (end == text.size()) break;
    begin = until;
  }
  // The rule that is listed first, and of one rule what begins first.
  std::stable_sort(found.begin(), found.end(), [](const Match& a, const Match& b) {
    return a.rule != b.rule ? a.rule < b.rule : a.begin < b.begin;
  });
  std::vector<Match> kept;
  const auto begins_later = [](const Match& a, const Match& b) { return a.begin < b.begin; };
  for (std::size_t i = 0; i < found.size();) {
    const std::size_t before = kept.size();
    const std::size_t rule = found[i].rule;
    std::vector<Match> fresh;
    for (; i < found.size() && found[i].rule == rule; ++i) {
      const auto next = std::lower_bound(kept.begin(), kept.end(), found[i], begins_later);
      const bool free = (next == kept.end() || next->begin >= found[i].end) &&
                        (next == kept.begin() || std::prev(next)->end <= found[i].begin) &&
                        (fresh.empty() || fresh.back().end <= found[i].begin);
      if (free) fresh.push_back(found[i]);
    }
    kept.insert(kept.end(), fresh.begin(), fresh.end());
    std::inplace_merge(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(before), kept.end(),
                       begins_later);
  }
  return kept;
}

void RuleBook::find_within(std::string_view text, std::size_t begin, std::size_t until,
                           std::size_t end, bool personal, std::vector<Match>& found) const {
  std::vector<int> keywords;
  RE2::Set::ErrorInfo error{};
  const bool any = keywords_->Match(piece(text.substr(begin, end - begin)), &keywords, &error);
  std::vector<bool> asked(rules_.size(), !any && error.kind != RE2::Set::kNoError);
  for (const int keyword : keywords)
    asked[rule_of_keyword_[static_cast<std::size_t>(keyword)]] = true;
  for (std::size_t rule = 0; rule < rules_.size(); ++rule)
    if (asked[rule] && (personal || !rules_[rule].personal))
      find_one(rule, text, begin, until, end, found);
}

void RuleBook::find_one(std::size_t rule, std::string_view text, std::size_t begin,
                        std::size_t until, std::size_t end, std::vector<Match>& found) const {
  constexpr int kMostGroups = 8;
  const RE2& pattern = *patterns_[rule];
  const int groups = std::min(kMostGroups, 1 + pattern.NumberOfCapturingGroups());
  std::array<re2::StringPiece, kMostGroups> parts;
  std::size_t at = begin;
  while (at < until && pattern.Match(piece(text), at, end, RE2::UNANCHORED, parts.data(), groups)) {
    const auto* part = std::find_if(parts.begin() + 1, parts.begin() + groups,
                                    [](const auto& group) { return !group.empty(); });
    const re2::StringPiece& secret = part == parts.begin() + groups ? parts[0] : *part;
    const auto first = static_cast<std::size_t>(secret.data() - text.data());
    const std::string_view word(secret.data(), secret.size());
    at = std::max(first + secret.size(), at + 1);
    if (secret.empty() || first >= until) continue;
    if (rules_[rule].entropy > 0 && entropy(word) < rules_[rule].entropy) continue;
    if (allowed_[rule] && RE2::PartialMatch(secret, *allowed_[rule])) continue;
    found.push_back({first, first + secret.size(), rule});
  }
}

}  // namespace gauntlet
