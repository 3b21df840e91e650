// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <string_view>

#include <CLI/CLI.hpp>

#include "harness/cli/completion.h"
#include "harness/cli/make_context.h"
#include "harness/core/error.h"
#include "harness/core/text.h"

namespace gauntlet {

namespace shells {
extern const std::string_view bash_sh;
extern const std::string_view zsh_sh;
extern const std::string_view fish_sh;
}  // namespace shells

namespace {

std::vector<OfferedWord> challenges_in(const Context& context) {
  std::vector<OfferedWord> known;
  for (const std::string& id : context.challenges()) {
    const Challenge challenge = load_challenge(context.root(), id);
    known.push_back({id, challenge.title});
    for (const std::string& size : challenge.sizes) known.push_back({id + "." + size, size});
    for (const Device device : challenge.devices)
      if (device != Device::cpu)
        known.push_back({CellKey{"", id, "", device}.entry(), std::string(name_of(device))});
  }
  return known;
}

std::vector<OfferedWord> checks_in(const Context& context, const std::string& column) {
  const CellKey key = CellKey::of("", column);
  std::vector<OfferedWord> known;
  if (contains(context.challenges(), key.challenge))
    for (const CheckInfo& check : checks_of(key.challenge, key.device))
      known.push_back({check.id, check.detects});
  return known;
}

/// A folder that a stranger named as no submission may be called is not offered: what a shell makes of
/// its name is anybody's guess.
std::vector<OfferedWord> submissions_in(const Context& context) {
  std::vector<OfferedWord> known;
  for (const std::string& name : submission_names(context.workspace))
    if (why_not_called(name).empty()) known.push_back({name, "submission"});
  return known;
}

/// The checkout that the line speaks of, if it does.
std::string root_in(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == "--root") return words[i + 1];
  return "";
}

std::string in_lines(const Completion& offered) {
  constexpr std::array<const char*, 3> kPaths{"none", "folders", "files"};
  std::string text = kPaths.at(static_cast<std::size_t>(offered.paths)) + std::string("\n");
  for (const OfferedWord& one : offered.words)
    text += fmt::format("{}\t{}\n", one.word, one_line(one.about));
  return text;
}

}  // namespace

std::string completion_script(const std::string& shell) {
  if (shell == "bash") return std::string(shells::bash_sh);
  if (shell == "zsh") return std::string(shells::zsh_sh);
  if (shell == "fish") return std::string(shells::fish_sh);
  const std::vector<std::string> known{"bash", "zsh", "fish"};
  throw UserError(fmt::format("no completion for '{}'{}; known: {}", printable(shell, 80),
                              did_you_mean(shell, known), sentence_list(known)));
}

std::string completion_answer(const Program& program, const std::vector<std::string>& words) try {
  CommandLineOptions options;
  CLI::App app;
  describe_command_line(app, options);
  CommandLineOptions said;
  said.root = root_in(words);
  const Context context = make_context(program, said);
  const KnownWords known{
      [&] { return challenges_in(context); },
      [&](const std::string& challenge) { return checks_in(context, challenge); },
      [&] { return submissions_in(context); }};
  return in_lines(complete(app, words, known));
} catch (const std::exception&) {
  return "none\n";
}

}  // namespace gauntlet
