// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/man_page.h"

#include <algorithm>
#include <fmt/format.h>
#include <sstream>
#include <vector>

#include "harness/cli/environment.h"
#include "harness/cli/exit_codes.h"
#include "harness/cli/installation.h"

namespace gauntlet {
namespace {

/// A line as roff takes it: no request by chance, and hyphens that can be copied into a shell.
std::string escaped(const std::string& line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char before = i == 0 ? ' ' : line[i - 1];
    const bool of_an_option = line[i] == '-' && (before == ' ' || before == '-' || before == '(');
    if (i == 0 && (line[i] == '.' || line[i] == '\'')) text += "\\&";
    text += line[i] == '\\' ? "\\e" : of_an_option ? "\\-" : std::string(1, line[i]);
  }
  return text;
}

/// Filled text as mdoc wants it: each sentence begins a line, and no line is longer than 80 bytes.
std::string sentences(const std::string& paragraph) {
  constexpr std::size_t kWidth = 76;  // what is escaped takes a little more
  std::string text;
  std::string line;
  std::istringstream words(paragraph);
  const auto end_line = [&] {
    if (!line.empty()) text += escaped(line) + "\n";
    line.clear();
  };
  for (std::string word; words >> word;) {
    if (line.size() + 1 + word.size() > kWidth) end_line();
    line += (line.empty() ? "" : " ") + word;
    if (word.back() == '.') end_line();
  }
  end_line();
  return text;
}

/// Help text: what is indented stays as it is, every other line is a paragraph.
std::string running_text(const std::string& help) {
  std::string text;
  bool literal = false;
  const auto set_literal = [&](bool now) {
    if (literal != now) text += now ? ".Bd -literal\n" : ".Ed\n";
    literal = now;
  };
  std::istringstream lines(as_called(help, true));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    set_literal(line.starts_with("  "));
    if (!literal && !text.empty()) text += ".Pp\n";
    text += literal ? escaped(line) + "\n" : sentences(line);
  }
  set_literal(false);
  return text;
}

/// "INT:INT in [1 - 1024]" is "int".
std::string value_of(const CLI::Option& option) {
  std::string type = option.get_type_name();
  type = type.substr(0, type.find(':'));
  std::transform(type.begin(), type.end(), type.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return type;
}

bool repeats(const CLI::Option& option) {
  return option.get_expected_max() > 1;
}

std::string item(const CLI::Option& option) {
  std::string line;
  const auto add = [&](const std::string& name) { line += (line.empty() ? "" : " , ") + name; };
  for (const std::string& name : option.get_snames()) add("Fl " + name);
  for (const std::string& name : option.get_lnames()) add("Fl Fl " + name);
  if (option.get_positional()) add("Ar " + option.get_name(true));
  if (option.get_positional() && repeats(option)) line += " ...";
  if (option.nonpositional() && option.get_items_expected_max() > 0)
    line += " Ar " + value_of(option);
  std::string what = option.get_description();
  if (!option.get_default_str().empty())
    what += fmt::format(" (default: {})", option.get_default_str());
  return fmt::format(".It {}\n{}", line, running_text(what + "."));
}

std::string list_of(const std::vector<std::string>& items) {
  if (items.empty()) return "";
  std::string text = ".Bl -tag -width Ds\n";
  for (const std::string& one : items) text += one;
  return text + ".El\n";
}

std::string options_of(const CLI::App& app) {
  std::vector<std::string> items;
  for (const CLI::Option* option : app.get_options())
    if (app.get_parent() == nullptr || option != app.get_help_ptr()) items.push_back(item(*option));
  return list_of(items);
}

std::string verb_section(const CLI::App& verb) {
  std::string line = fmt::format(".D1 Nm gauntlet Cm {} Oo Ar option ... Oc", verb.get_name());
  for (const CLI::Option* option : verb.get_options()) {
    if (!option->get_positional()) continue;
    const std::string name = "Ar " + option->get_name(true) + (repeats(*option) ? " ..." : "");
    line += option->get_required() ? " " + name : " Oo " + name + " Oc";
  }
  return fmt::format(".Ss {}\n{}\n{}{}{}", verb.get_name(), line,
                     running_text(verb.get_description() + "."), options_of(verb),
                     ".Pp\n" + running_text(verb.get_footer()));
}

std::string exit_codes() {
  std::vector<std::string> items;
  for (const ExitCodeMeaning& row : exit_code_meanings())
    items.push_back(
        fmt::format(".It {}\n{}", row.code, running_text(std::string(row.meaning) + ".")));
  return list_of(items);
}

std::string environment() {
  std::vector<std::string> items;
  for (const EnvironmentVariable& row : environment_variables())
    items.push_back(
        fmt::format(".It Ev {}\n{}", row.name, running_text(std::string(row.meaning) + ".")));
  return list_of(items);
}

}  // namespace

std::string man_page(const CLI::App& app, const std::string& released) {
  std::string text = fmt::format(
      ".\\\" SPDX-License-Identifier: Apache-2.0\n"
      ".\\\" Written by `gauntlet help man-page`; edits are lost.\n"
      ".Dd {}\n.Dt GAUNTLET 1\n.Os\n"
      ".Sh NAME\n.Nm gauntlet\n.Nd grade C++ solutions that language models wrote\n"
      ".Sh SYNOPSIS\n.Nm\n.Op Ar option ...\n.Ar verb\n.Op Ar argument ...\n"
      ".Sh DESCRIPTION\n{}",
      released, running_text(app.get_description()));
  text += ".Sh OPTIONS\nThese are understood by every verb.\n" + options_of(app);
  text += ".Sh VERBS\n";
  for (const CLI::App* verb : app.get_subcommands({})) text += verb_section(*verb);
  text += ".Sh ENVIRONMENT\n" + environment();
  text += ".Sh FILES\n" + running_text(files_text());
  return text + ".Sh EXIT STATUS\n" + exit_codes();
}

}  // namespace gauntlet
