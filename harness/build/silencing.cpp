#include "harness/build/silencing.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fmt/format.h>

namespace gauntlet {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// A text without its continued lines, as the preprocessor reads it.
struct Joined {
  std::string text;
  std::vector<std::size_t> place;  // of each character in the file
};

Joined joined(std::string_view raw) {
  Joined all;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    std::size_t end = i + 1;
    while (raw[i] == '\\' && end < raw.size() && is_blank(raw[end])) ++end;
    if (raw[i] == '\\' && end < raw.size() && raw[end] == '\n') {
      i = end;
      continue;
    }
    all.text += raw[i];
    all.place.push_back(i);
  }
  return all;
}

/// A '#' that may begin a directive, and the name behind it.
struct Candidate {
  std::size_t name = 0;
  bool comments = false;  // before the '#' in its line, or behind it
};

bool may_begin_line(std::string_view text, std::size_t at, Candidate& candidate) {
  while (at > 0 && is_blank(text[at - 1])) --at;
  candidate.comments = text.substr(0, at).ends_with("*/");
  const bool byte_order_mark = at == 3 && text.starts_with("\xEF\xBB\xBF");
  return at == 0 || text[at - 1] == '\n' || byte_order_mark || candidate.comments;
}

std::size_t past_blanks(std::string_view text, std::size_t at, bool& comments) {
  while (at < text.size()) {
    if (is_blank(text[at])) {
      ++at;
    } else if (text.substr(at, 2) == "/*") {
      comments = true;
      at = std::min(text.find("*/", at + 2), text.size() - 2) + 2;
    } else {
      break;
    }
  }
  return at;
}

bool names_a_line(std::string_view text) {
  if (text.empty()) return false;
  return is_digit(text[0]) || (text.starts_with("line") && (text.size() == 4 || !is_word(text[4])));
}

std::vector<Candidate> line_directives(std::string_view text) {
  std::vector<Candidate> all;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t sign = text[i] == '#' ? 1 : text.substr(i, 2) == "%:" ? 2 : 0;
    Candidate candidate;
    if (sign == 0 || !may_begin_line(text, i, candidate)) continue;
    candidate.name = past_blanks(text, i + sign, candidate.comments);
    if (candidate.name < text.size() && names_a_line(text.substr(candidate.name)))
      all.push_back(candidate);
  }
  return all;
}

Diagnostic silencer(const std::string& file, int line, int column, const std::string& what) {
  return {"warning", file, line, column, what + " counts as a warning", ""};
}

Diagnostic renamed_line(const std::string& file, int line, int column) {
  return silencer(file, line, column,
                  "'#line' or a line marker, which gives what follows another place,");
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

std::string poisoned_word(const std::string& message) {
  constexpr std::string_view kWords = "attempt to use poisoned \"";
  if (!message.starts_with(kWords) || !message.ends_with('"')) return "";
  return message.substr(kWords.size(), message.size() - kWords.size() - 1);
}

bool names_silencing(const std::string& word, const std::string& previous, std::string_view text) {
  if (word == "GCC") return in_directive(text) && !after_pragma(text);
  return previous == "GCC" || in_directive(text);
}

}  // namespace

std::vector<SolutionSource::File> with_misspelt_lines(
    const std::vector<SolutionSource::File>& files, std::vector<Diagnostic>& found) {
  std::vector<SolutionSource::File> changed = files;
  for (SolutionSource::File& file : changed) {
    const Joined source = joined(file.content);
    for (const Candidate& candidate : line_directives(source.text)) {
      const std::size_t at = source.place[candidate.name];
      if (candidate.comments) {
        // To change a letter here might change what is a comment and what is not.
        const auto lines = std::count(file.content.begin(),
                                      file.content.begin() + static_cast<std::ptrdiff_t>(at), '\n');
        found.push_back(renamed_line(file.name, static_cast<int>(lines) + 1, 1));
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
    if (own && systems.back())
      found.push_back(silencer(name, 0, 0, "text that the compiler takes for a system header's"));
    if (own && one.file.starts_with('/'))
      found.push_back(silencer(name, 0, 0, "a file that is named through /proc or /dev"));
    systems.push_back(!own);
  }
}

}  // namespace gauntlet
