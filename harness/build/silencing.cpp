// SPDX-License-Identifier: Apache-2.0
#include "harness/build/silencing.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "harness/build/directives.h"

namespace gauntlet {
namespace {

bool names_a_line(std::string_view text) {
  if (text.empty()) return false;
  return is_digit(text[0]) || (text.starts_with("line") && (text.size() == 4 || !is_word(text[4])));
}

/// What stands before a place in its line, with the lines that this one continues.
std::string before(const std::string& content, int line, int column) {
  std::size_t start = 0;
  for (int n = 1; n < line && start < content.size(); ++n)
    start = std::min(content.find('\n', start), content.size() - 1) + 1;
  const std::size_t end =
      std::min(start + static_cast<std::size_t>(std::max(column, 1)) - 1, content.size());
  const auto is_continued = [&] {
    std::size_t at = start - 1;  // the '\n'
    while (at > 0 && is_blank(content[at - 1])) --at;
    return at > 0 && content[at - 1] == '\\';
  };
  while (start > 0 && is_continued()) {
    const std::size_t previous = start < 2 ? std::string::npos : content.rfind('\n', start - 2);
    start = previous == std::string::npos ? 0 : previous + 1;
  }
  return joined(content.substr(start, end - start)).text;
}

/// The words of a silencing pragma are only suspicious where they can be one, or the name of a
/// macro: a macro of this name would be unknown to the preprocessor that was told to refuse it.
bool in_directive(std::string_view before_it) {
  return before_it.find('#') != std::string_view::npos ||
         before_it.find("%:") != std::string_view::npos ||
         before_it.find("*/") != std::string_view::npos;
}

bool after_pragma(std::string_view before_it) {
  while (!before_it.empty() && is_blank(before_it.back())) before_it.remove_suffix(1);
  return before_it.ends_with("pragma");
}

bool names_silencing(const std::string& word, const std::string& previous, std::string_view text) {
  if (word == "GCC") return in_directive(text) && !after_pragma(text);
  return previous == "GCC" || in_directive(text);
}

}  // namespace

Diagnostic silencer(const std::string& file, int line, int column, const std::string& what) {
  return {"warning", file, line, column, what + " counts as a warning", ""};
}

Diagnostic renamed_line(const std::string& file, int line, int column) {
  return silencer(file, line, column,
                  "'#line' or a line marker, which gives what follows another place,");
}

std::vector<SolutionSource::File> with_misspelt_lines(
    const std::vector<SolutionSource::File>& files, std::vector<Diagnostic>& found) {
  std::vector<SolutionSource::File> changed = files;
  for (SolutionSource::File& file : changed) {
    const Joined source = joined(file.content);
    for (const Directive& directive : directives(source.text)) {
      if (!names_a_line(std::string_view(source.text).substr(directive.name))) continue;
      const std::size_t at = source.place[directive.name];
      if (directive.comments) {
        // To change a letter here might change what is a comment and what is not.
        found.push_back(renamed_line(file.name, line_at(file.content, at), 1));
      } else {
        file.content[at] = is_digit(file.content[at]) ? 'z' : 'k';  // "#kine", "#z3"
      }
    }
  }
  return changed;
}

void add_silencers(const CompilerOutput& searched, const std::vector<SolutionSource::File>& files,
                   std::vector<Diagnostic>& found) {
  std::string previous;
  for (const Diagnostic& one : searched.diagnostics) {
    if (!one.is_error()) continue;
    const std::string word = poisoned_word(one.message);
    const std::string last = std::exchange(previous, word);
    if (!one.is_own()) continue;
    const std::string name = std::filesystem::path(one.file).lexically_normal().string();
    const auto file = std::find_if(files.begin(), files.end(),
                                   [&](const auto& held) { return held.name == name; });
    const std::string text =
        file == files.end() ? "#" : before(file->content, one.line, one.column);
    if (word.empty())
      found.push_back(renamed_line(name, one.line, one.column));
    else if (names_silencing(word, last, text))
      found.push_back(silencer(name, one.line, one.column,
                               fmt::format("'{}', a word of the pragmas that silence the compiler,",
                                           word == "GCC" ? "GCC" : "GCC " + word)));
  }
  // A pragma that a macro makes is met in the macro's argument, and once more where it comes out.
  const auto same_place = [](const Diagnostic& a, const Diagnostic& b) {
    return a.file == b.file && a.line == b.line;
  };
  found.erase(std::unique(found.begin(), found.end(), same_place), found.end());
}

void add_taken_for_the_systems(const std::vector<Included>& included,
                               std::vector<Diagnostic>& found) {
  std::vector<bool> systems{false};  // the file that is compiled, and those on the way from it
  for (const Included& one : included) {
    systems.resize(std::min(systems.size(), static_cast<std::size_t>(one.depth)));
    const bool own = !is_system_file(one.file);
    const std::string name = std::filesystem::path(one.file).lexically_normal().string();
    if (own && systems.back()) found.push_back(silencer(name, 0, 0, kTakenForTheSystems));
    if (own && one.file.starts_with('/'))
      found.push_back(silencer(name, 0, 0, "a file that is named by a path from the root"));
    systems.push_back(!own);
  }
}

}  // namespace gauntlet
