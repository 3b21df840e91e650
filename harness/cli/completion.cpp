// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/completion.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "harness/cli/help.h"
#include "harness/core/text.h"

namespace gauntlet {
namespace {

using Paths = Completion::Paths;

/// What stands at an argument, told by its name; what is not here is a file, or a number.
enum class Takes { file, folder, nothing, challenge, check, finding, submission, words };

struct Argument {
  Takes kind = Takes::file;
  std::vector<std::string> words = {};
};

Argument meaning_of(const CLI::App& app, const std::string& verb, const std::string& name) {
  using Words = std::vector<std::string>;
  static const std::map<std::string, Argument> kByVerb{
      {"list what", {Takes::words, Words{"challenges", "checks", "submissions"}}},
      {"show what", {Takes::finding}},
      {"new model", {Takes::nothing}},
      {"export format", {Takes::words, Words{"harbor"}}},
      {"completion shell", {Takes::words, Words{"bash", "zsh", "fish"}}}};
  static const std::map<std::string, Argument> kByName{
      {"challenge", {Takes::challenge}},
      {"check", {Takes::check}},
      {"submission", {Takes::submission}},
      {"model", {Takes::submission}},
      {"color", {Takes::words, Words{"auto", "always", "never"}}}};
  if (verb + " " + name == "help topic") {
    Argument topics{Takes::words, verb_names(app)};
    topics.words.insert(topics.words.end(), kHelpTopics.begin(), kHelpTopics.end());
    return topics;
  }
  if (const auto found = kByVerb.find(verb + " " + name); found != kByVerb.end())
    return found->second;
  const auto found = kByName.find(name);
  return found == kByName.end() ? Argument{} : found->second;
}

/// "challenge" of "-c,--challenge", "model" of a positional.
std::string name_of(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  return option.get_lnames().empty() ? "" : option.get_lnames().front();
}

/// "Folder of results" takes a folder, "Seconds ..." a number.
Takes kind_by_help(const CLI::Option& option) {
  if (!option.get_type_name().starts_with("TEXT")) return Takes::nothing;
  return option.get_description().starts_with("Folder") ||
                 option.get_description().starts_with("Checkout")
             ? Takes::folder
             : Takes::file;
}

/// A command line as far as it goes.
class TypedLine {
 public:
  TypedLine(const CLI::App& app, const KnownWords& known) : app_(app), known_(known) {}

  void read(const std::string& word) {
    if (word == "=") return;  // bash takes "--seed=" apart
    if (asked_ != nullptr) {
      keep(name_of(*asked_), word);
      asked_ = nullptr;
    } else if (word.size() > 1 && word[0] == '-') {
      const std::size_t sign = word.find('=');
      asked_ = option_named(word.substr(0, sign));
      if (asked_ != nullptr && asked_->get_items_expected_max() == 0) asked_ = nullptr;
      if (sign != std::string::npos) read(word.substr(sign + 1));
    } else if (verb_ == nullptr) {
      for (const CLI::App* verb : app_.get_subcommands({}))
        if (verb->get_name() == word) verb_ = verb;
    } else if (const CLI::Option* next = positional()) {
      keep(name_of(*next), word);
      ++positionals_;
    }
  }

  Completion offer(const std::string& word) const {
    const std::size_t sign = word.find('=');
    if (asked_ == nullptr && word.starts_with("--") && sign != std::string::npos)
      return with_prefix(word.substr(0, sign + 1), option_named(word.substr(0, sign)),
                         word.substr(sign + 1));
    const std::string typed = word == "=" ? "" : word;
    if (asked_ != nullptr) return values(*asked_, typed);
    if (typed.starts_with("-")) return beginning_with(typed, {options(), Paths::none});
    if (verb_ == nullptr) return beginning_with(typed, {verbs(), Paths::none});
    const CLI::Option* next = positional();
    return next == nullptr ? Completion{} : values(*next, typed);
  }

 private:
  static Completion beginning_with(const std::string& typed, Completion offered) {
    std::erase_if(offered.words,
                  [&](const OfferedWord& one) { return !one.word.starts_with(typed); });
    return offered;
  }

  Completion with_prefix(const std::string& prefix, const CLI::Option* option,
                         const std::string& typed) const {
    if (option == nullptr) return {};
    Completion offered = values(*option, typed);
    for (OfferedWord& one : offered.words) one.word = prefix + one.word;
    return offered;
  }

  void keep(const std::string& name, const std::string& word) {
    if (name == "challenge") challenge_ = word;
  }

  std::vector<const CLI::App*> levels() const {
    return verb_ == nullptr ? std::vector{&app_} : std::vector{verb_, &app_};
  }

  const CLI::Option* option_named(const std::string& word) const {
    for (const CLI::App* level : levels())
      for (const CLI::Option* option : level->get_options())
        if (option->nonpositional() && option->check_name(word)) return option;
    return nullptr;
  }

  /// The argument that is filled next; the last one may be repeated.
  const CLI::Option* positional() const {
    const CLI::Option* last = nullptr;
    int before = 0;
    for (const CLI::Option* option : verb_->get_options()) {
      if (!option->get_positional()) continue;
      last = option;
      if (before++ == positionals_) return option;
    }
    return last != nullptr && last->get_expected_max() > 1 ? last : nullptr;
  }

  std::vector<OfferedWord> verbs() const {
    std::vector<OfferedWord> offered;
    for (const CLI::App* verb : app_.get_subcommands({}))
      offered.push_back({verb->get_name(), verb->get_description()});
    return offered;
  }

  std::vector<OfferedWord> options() const {
    std::vector<OfferedWord> offered;
    for (const CLI::App* level : levels())
      for (const CLI::Option* option : level->get_options())
        for (const std::string& name : option->get_lnames())
          if (level == levels().front() || name != "help")
            offered.push_back({"--" + name, option->get_description()});
    return offered;
  }

  Completion values(const CLI::Option& option, const std::string& typed) const {
    const std::string verb = verb_ == nullptr ? "" : verb_->get_name();
    Argument meaning = meaning_of(app_, verb, name_of(option));
    if (meaning.kind == Takes::file) meaning.kind = kind_by_help(option);
    Completion offered;
    switch (meaning.kind) {
      case Takes::nothing:
        break;
      case Takes::file:
        offered.paths = Paths::files;
        break;
      case Takes::folder:
        offered.paths = Paths::folders;
        break;
      case Takes::challenge:
        offered.words = known_.challenges();
        break;
      case Takes::check:
        offered.words = known_.checks(challenge_);
        break;
      case Takes::finding:
        offered.words = findings(typed);
        break;
      case Takes::submission:
        offered = {known_.submissions(), Paths::folders};
        break;
      case Takes::words:
        for (const std::string& word : meaning.words) offered.words.push_back({word, ""});
        break;
    }
    return beginning_with(typed, std::move(offered));
  }

  /// CHALLENGE, and from the slash on CHALLENGE/CHECK.
  std::vector<OfferedWord> findings(const std::string& typed) const {
    const std::size_t slash = typed.find('/');
    if (slash == std::string::npos) return known_.challenges();
    const std::string challenge = typed.substr(0, slash);
    std::vector<OfferedWord> offered = known_.checks(challenge);
    for (OfferedWord& one : offered) one.word = challenge + "/" + one.word;
    return offered;
  }

  const CLI::App& app_;
  const KnownWords& known_;
  const CLI::App* verb_ = nullptr;
  const CLI::Option* asked_ = nullptr;  // that the next word is the value of
  int positionals_ = 0;                 // that were read
  std::string challenge_;
};

}  // namespace

Completion complete(const CLI::App& app, const std::vector<std::string>& words,
                    const KnownWords& known) {
  TypedLine line(app, known);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) line.read(words[i]);
  return line.offer(words.empty() ? "" : words.back());
}

}  // namespace gauntlet
