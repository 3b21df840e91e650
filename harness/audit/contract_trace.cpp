// SPDX-License-Identifier: Apache-2.0
#include "harness/audit/contract_trace.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string_view>

#include "harness/build/challenge.h"
#include "harness/core/files.h"
#include "harness/core/text.h"
#include "harness/core/yaml.h"

namespace gauntlet {
namespace {

using Asked = ContractStatement::Asked;

constexpr std::size_t kShownWords = 120;  // bytes of the contract that a problem repeats

bool is_blank(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

bool is_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// contract.h on one line: white space and the marks of comments are one blank.
class ContractText {
 public:
  explicit ContractText(std::string_view source) : rest_(source) {
    while (!rest_.empty()) {
      if (comment_ == Comment::none && rest_.starts_with("/*"))
        begin(Comment::block);
      else if (comment_ == Comment::none && rest_.starts_with("//"))
        begin(Comment::line);
      else if (comment_ == Comment::block && rest_.starts_with("*/"))
        begin(Comment::none);
      else if (is_blank(rest_.front()))
        skip_blank();
      else if (comment_ == Comment::block && line_begins_ && rest_.front() == '*')
        skip(1);
      else
        keep();
    }
  }

  const std::string& text() const { return text_; }
  int line(std::size_t at) const { return places_[at].line; }

  /// A word of a comment stands here.
  bool is_said(std::size_t at) const { return places_[at].comment && is_letter(text_[at]); }

  /// Behind the last character of the comment that `from` is in, `to` at most.
  std::size_t comment_end(std::size_t from, std::size_t to) const {
    std::size_t end = from;
    for (std::size_t i = from; i < to && places_[i].comment; ++i)
      if (text_[i] != ' ') end = i + 1;
    return end;
  }

  /// Where these words stand next, none of them a part of a longer one.
  std::size_t find(std::string_view words, std::size_t from) const {
    if (words.empty()) return std::string::npos;
    std::size_t at = text_.find(words, from);
    while (at != std::string::npos && cuts_a_word(at, at + words.size()))
      at = text_.find(words, at + 1);
    return at;
  }

 private:
  enum class Comment { none, block, line };
  struct Place {
    int line;
    bool comment;
  };

  void skip(std::size_t bytes) {
    rest_.remove_prefix(bytes);
    gap_ = true;
    line_begins_ = false;
  }

  void begin(Comment comment) {
    comment_ = comment;
    skip(2);
  }

  void skip_blank() {
    const bool ends_line = rest_.front() == '\n';
    const bool begins = line_begins_ || ends_line;
    skip(1);
    line_begins_ = begins;
    if (!ends_line) return;
    ++line_;
    if (comment_ == Comment::line) comment_ = Comment::none;
  }

  void keep() {
    if (gap_ && !text_.empty()) put(' ');
    put(rest_.front());
    skip(1);
    gap_ = false;
  }

  void put(char c) {
    text_ += c;
    places_.push_back({line_, comment_ != Comment::none});
  }

  bool cuts_a_word(std::size_t begin, std::size_t end) const {
    const auto inside_one = [&](std::size_t at) {
      return at > 0 && at < text_.size() && is_letter(text_[at - 1]) && is_letter(text_[at]);
    };
    return inside_one(begin) || inside_one(end);
  }

  std::string_view rest_;
  Comment comment_ = Comment::none;
  bool line_begins_ = true;
  bool gap_ = false;
  int line_ = 1;
  std::string text_;
  std::vector<Place> places_;  // of each character
};

/// Goes through both files at once: the entries of contract.yaml follow the words of contract.h.
class Tracer {
 public:
  explicit Tracer(const ContractSources& sources)
      : contract_(sources.contract), checks_(sources.checks) {
    for (const Mutant& mutant : sources.mutants) {
      mutants_.push_back(mutant.name);
      killers_[mutant.name] = mutant.killers;
    }
  }

  ContractTrace trace(YamlFields file) {
    for (YamlFields& entry : file.list("statements")) {
      if (entry.has("explains"))
        quote(entry.text("explains"));
      else
        add(entry);
      entry.refuse_unknown();
    }
    require_quoted(contract_.text().size());
    if (file.has("beyond"))
      for (YamlFields& entry : file.list("beyond")) beyond(entry);
    file.refuse_unknown();
    for (const std::string& check : checks_)
      if (!asking_.contains(check))
        problem("the check {} asks no statement: name it at one, or in `beyond` with the reason",
                check);
    return std::move(trace_);
  }

 private:
  template <class... Values>
  void problem(fmt::format_string<Values...> text, Values&&... values) {
    trace_.problems.push_back(fmt::format(text, std::forward<Values>(values)...));
  }

  /// Finds the words in contract.h, behind those of the entry before, and says in which line.
  int quote(const std::string& words) {
    const std::size_t at = contract_.find(words, quoted_);
    if (at == std::string::npos) {
      const bool before = contract_.find(words, 0) != std::string::npos;
      problem("contract.h does not say \"{}\"{}", one_line(words, kShownWords),
              before ? " behind what the entry before quotes: keep its order" : "");
      return 0;
    }
    require_quoted(at);
    quoted_ = at + words.size();
    return contract_.line(at);
  }

  /// Complains of words between the last quote and `end`. A full stop or a comma says nothing.
  void require_quoted(std::size_t end) {
    for (std::size_t i = quoted_; i < end; ++i) {
      if (!contract_.is_said(i)) continue;
      const std::size_t begin = i;
      i = contract_.comment_end(begin, end);
      problem("line {} of contract.h is neither a statement nor an explanation: \"{}\"",
              contract_.line(begin),
              one_line(contract_.text().substr(begin, i - begin), kShownWords));
    }
  }

  void add(YamlFields& entry) {
    ContractStatement made;
    made.id = entry.text("id");
    made.says = entry.text("says");
    if (entry.has("checks")) made.checks = entry.texts("checks");
    if (entry.has("mutants")) made.mutants = entry.texts("mutants");
    if (entry.has("not_asked")) made.not_asked = entry.text("not_asked");
    if (!ids_.insert(made.id).second) problem("two statements are called {}", made.id);
    made.line = quote(made.says);
    for (const std::string& check : made.checks) asks(made.id, check);
    for (const std::string& mutant : made.mutants) require_killed(made, mutant);
    if (made.not_asked.empty() && made.checks.empty())
      problem("{}: no check asks it: name one, or say in `not_asked` why", made.id);
    if (made.not_asked.empty() && made.mutants.empty())
      problem("{}: no mutant breaks it: name one, or say in `not_asked` why", made.id);
    trace_.statements.push_back(std::move(made));
  }

  void asks(const std::string& who, const std::string& check) {
    asking_.insert(check);
    if (!contains(checks_, check))
      problem("{}: there is no check {}{}", who, check, did_you_mean(check, checks_));
  }

  /// That a check of the statement notices the mutant is what every audit finds out.
  void require_killed(const ContractStatement& by, const std::string& mutant) {
    if (!killers_.contains(mutant))
      return problem("{}: there is no mutant {}{}", by.id, mutant, did_you_mean(mutant, mutants_));
    const std::vector<std::string>& killers = killers_.at(mutant);
    if (std::none_of(killers.begin(), killers.end(),
                     [&](const std::string& killer) { return contains(by.checks, killer); }))
      problem("{}: none of its checks kills the mutant {}; {} do", by.id, mutant,
              sentence_list(killers));
  }

  void beyond(YamlFields& entry) {
    const std::string check = entry.text("check");
    (void)entry.text("reason");
    entry.refuse_unknown();
    if (asking_.contains(check)) problem("beyond: the check {} is named elsewhere", check);
    asks("beyond", check);
  }

  ContractText contract_;
  std::size_t quoted_ = 0;  // how much of the contract has been quoted
  const std::vector<std::string>& checks_;
  std::vector<std::string> mutants_;
  std::map<std::string, std::vector<std::string>> killers_;
  std::set<std::string> asking_;
  std::set<std::string> ids_;
  ContractTrace trace_;
};

}  // namespace

Asked ContractStatement::asked() const {
  if (not_asked.empty()) return Asked::wholly;
  return checks.empty() ? Asked::not_at_all : Asked::in_part;
}

std::size_t ContractTrace::count(Asked asked) const {
  return static_cast<std::size_t>(
      std::count_if(statements.begin(), statements.end(),
                    [&](const ContractStatement& one) { return one.asked() == asked; }));
}

ContractTrace trace_contract(const ContractSources& sources) {
  return Tracer(sources).trace(YamlFields::of_text(sources.trace, sources.trace_name));
}

ContractTrace trace_contract(const std::filesystem::path& root, const std::string& challenge_id,
                             const Grader& grader) {
  const auto file = root / "graders" / challenge_id / "contract.yaml";
  if (!std::filesystem::exists(file))
    return {{}, {fmt::format("graders/{}/contract.yaml is missing", challenge_id)}};
  ContractSources sources{read_file(root / "challenges" / challenge_id / "contract.h"),
                          read_file(file),
                          file.string(),
                          {},
                          {}};
  for (const Device device : load_challenge(root, challenge_id).devices)
    for (Mutant& mutant : load_audit_suite(root, challenge_id, device, grader).mutants)
      sources.mutants.push_back(std::move(mutant));
  for (const Check& check : grader.checks) sources.checks.push_back(check.id);
  return trace_contract(sources);
}

}  // namespace gauntlet
