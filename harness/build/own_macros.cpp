// SPDX-License-Identifier: Apache-2.0
#include "harness/build/own_macros.h"

#include <algorithm>
#include <array>

#include "harness/build/directives.h"

namespace gauntlet {
namespace {

/// Macros that the C library, the C++ library and their standards tell programs to define.
constexpr std::array<std::string_view, 25> kFeatures{
    "_GNU_SOURCE",         "_DEFAULT_SOURCE",
    "_BSD_SOURCE",         "_SVID_SOURCE",
    "_ISOC99_SOURCE",      "_ISOC11_SOURCE",
    "_POSIX_SOURCE",       "_POSIX_C_SOURCE",
    "_XOPEN_SOURCE",       "_XOPEN_SOURCE_EXTENDED",
    "_ATFILE_SOURCE",      "_LARGEFILE_SOURCE",
    "_LARGEFILE64_SOURCE", "_FILE_OFFSET_BITS",
    "_REENTRANT",          "_THREAD_SAFE",
    "_FORTIFY_SOURCE",     "_USE_MATH_DEFINES",
    "_GLIBCXX_ASSERTIONS", "_GLIBCXX_DEBUG",
    "_GLIBCXX_PARALLEL",   "_GLIBCXX_USE_CXX11_ABI",
    "__STDC_LIMIT_MACROS", "__STDC_CONSTANT_MACROS",
    "__STDC_FORMAT_MACROS"};

bool is_feature(std::string_view name) {
  return name.starts_with("__STDC_WANT_") ||
         std::find(kFeatures.begin(), kFeatures.end(), name) != kFeatures.end();
}

std::size_t past_word(std::string_view text, std::size_t at) {
  while (at < text.size() && (is_word(text[at]) || text[at] == '$')) ++at;
  return at;
}

bool ends_line(std::string_view text) {
  return text.empty() || text[0] == '\n' || text.starts_with("//");
}

std::size_t past_number(std::string_view text, std::size_t at) {
  if (at == text.size() || !(is_digit(text[at]) || text[at] == '.')) return at;
  const auto of_exponent = [&](std::size_t sign) {
    return (text[sign] == '+' || text[sign] == '-') &&
           std::string_view("eEpP").find(text[sign - 1]) != std::string_view::npos;
  };
  for (++at; at < text.size(); ++at)
    if (!is_word(text[at]) && text[at] != '.' && text[at] != '\'' && !of_exponent(at)) break;
  return at;
}

/// What this macro is defined as when that is nothing, or a number with a sign and in parentheses
/// perhaps.
std::string setting_in(std::string_view text, std::size_t behind_name, std::string_view name) {
  bool comments = false;
  const std::size_t start = past_blanks(text, behind_name, comments);
  std::size_t at = start;
  int open = 0;
  for (; at < text.size() && (text[at] == '(' || text[at] == '-'); ++at) open += text[at] == '(';
  at = past_number(text, at);
  for (; open > 0 && at < text.size() && text[at] == ')'; ++at) --open;
  const bool plain = open == 0 && ends_line(text.substr(past_blanks(text, at, comments)));
  if (!plain || (is_reserved(name) && !is_feature(name))) return "";
  return " " + std::string(text.substr(start, at - start));
}

void add_macros_of(const SolutionSource::File& file, std::vector<OwnMacro>& all) {
  const Joined source = joined(file.content);
  const std::string_view text = source.text;
  const std::size_t first = all.size();
  for (const Directive& directive : directives(text)) {
    const std::size_t end = past_word(text, directive.name);
    const std::string_view verb = text.substr(directive.name, end - directive.name);
    if (verb.starts_with("include") || verb == "import")
      for (std::size_t i = first; i < all.size(); ++i) all[i].include_follows = true;
    if (verb != "define" && verb != "undef") continue;
    bool comments = false;
    const std::size_t name = past_blanks(text, end, comments);
    const std::size_t behind = past_word(text, name);
    if (behind == name) continue;  // a name of other letters, which no system header has
    OwnMacro macro{std::string(text.substr(name, behind - name)), file.name,
                   line_at(file.content, source.place[name])};
    const bool defined = verb == "define";
    macro.takes_arguments = behind < text.size() && text[behind] == '(';
    if (defined && !macro.takes_arguments) macro.setting = setting_in(text, behind, macro.name);
    if (defined || (is_reserved(macro.name) && !is_feature(macro.name)))
      all.push_back(std::move(macro));
  }
}

}  // namespace

bool is_reserved(std::string_view name) {
  return name.starts_with("__") ||
         (name.size() > 1 && name[0] == '_' && name[1] >= 'A' && name[1] <= 'Z');
}

std::vector<OwnMacro> own_macros(const std::vector<SolutionSource::File>& files) {
  std::vector<OwnMacro> all;
  for (const SolutionSource::File& file : files) add_macros_of(file, all);
  return all;
}

}  // namespace gauntlet
