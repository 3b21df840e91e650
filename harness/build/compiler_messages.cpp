// SPDX-License-Identifier: Apache-2.0
#include "harness/build/compiler_messages.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <utility>

#include <nlohmann/json.hpp>

#include "harness/core/text.h"

namespace gauntlet {
namespace {

using nlohmann::json;

constexpr std::size_t kKept = std::size_t{8} << 10;
constexpr std::string_view kGuardAdvice = "Multiple include guards may be useful for:";

std::string text_in(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

int number_in(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<int>() : 0;
}

void add_place(const json& object, Diagnostic& diagnostic) {
  const auto places = object.find("locations");
  if (places == object.end() || !places->is_array() || places->empty()) return;
  const json& first = places->front();
  const auto caret = first.is_object() ? first.find("caret") : first.end();
  if (!first.is_object() || caret == first.end() || !caret->is_object()) return;
  diagnostic.file = text_in(*caret, "file");
  diagnostic.line = number_in(*caret, "line");
  diagnostic.column = number_in(*caret, "byte-column");
}

/// g++ nests everything that it says while it works on one thing, warnings and errors as well.
void add(const json& object, std::vector<Diagnostic>& all) {
  if (!object.is_object()) return;
  Diagnostic diagnostic{text_in(object, "kind"),  "", 0, 0, text_in(object, "message"),
                        text_in(object, "option")};
  add_place(object, diagnostic);
  all.push_back(std::move(diagnostic));
  if (const auto children = object.find("children");
      children != object.end() && children->is_array())
    for (const json& child : *children) add(child, all);
}

void add_array(std::string_view line, CompilerOutput& all) {
  std::string printed(line);
  // g++ does not escape all control characters of a source's text.
  std::replace_if(
      printed.begin(), printed.end(), [](char c) { return c >= 0 && c < ' '; }, ' ');
  const json said = json::parse(printed, nullptr, false);
  all.garbled |= !said.is_array();
  if (said.is_array())
    for (const json& one : said) add(one, all.diagnostics);
}

std::string without_end(std::string_view line) {
  return std::string(line.substr(0, line.find_last_not_of('\n') + 1));
}

std::string line_of(const Diagnostic& said) {
  std::string place = said.file;
  if (said.line > 0) place += fmt::format(":{}:{}", said.line, said.column);
  return fmt::format("{}{}{}: {}{}\n", place, place.empty() ? "" : ": ", said.kind, said.message,
                     said.option.empty() ? "" : fmt::format(" [{}]", said.option));
}

bool speaks_of_error(std::string_view plain) {
  for (const std::string_view mark :
       {"error: ", "undefined reference to", "multiple definition of", "cannot find ", "Error: "})
    if (plain.find(mark) != std::string_view::npos) return true;
  return false;
}

/// Errors, own warnings, the rest; a note goes with what it explains.
std::string in_order(const std::vector<Diagnostic>& diagnostics) {
  std::array<std::string, 3> texts;
  std::size_t rank = 2;
  for (const Diagnostic& said : diagnostics) {
    if (said.is_error()) rank = 0;
    if (said.kind == "warning") rank = said.is_own() ? 1 : 2;
    if (texts[rank].size() < kKept) texts[rank] += line_of(said);
  }
  return texts[0] + texts[1] + texts[2];
}

}  // namespace

bool is_system_file(std::string_view path) {
  if (!path.starts_with('/') || path.find("/proc/") != std::string_view::npos ||
      path.find("/dev/") != std::string_view::npos)
    return false;
  std::error_code error;
  const std::filesystem::path place = std::filesystem::weakly_canonical(path, error);
  return !error && place.string().starts_with("/usr/");
}

CompilerOutput read_output(std::string_view output) {
  CompilerOutput all;
  int arrays = 0;
  bool advice = false;  // -H ends with a list of files, which ends with the structured output
  while (!output.empty()) {
    const std::size_t end = std::min(output.find('\n'), output.size() - 1) + 1;
    const std::string_view line = output.substr(0, end);
    output.remove_prefix(end);
    advice = !line.starts_with('[') && (advice || line.starts_with(kGuardAdvice));
    if (line.starts_with('[')) {
      ++arrays;
      add_array(line, all);
    } else if (const std::size_t depth = line.find_first_not_of('.');
               depth > 0 && depth < line.size() && line[depth] == ' ') {
      all.included.push_back({static_cast<int>(depth), without_end(line.substr(depth + 1))});
    } else if (!advice) {
      all.plain += line;
    }
  }
  all.garbled |= arrays != 1;
  return all;
}

std::vector<Diagnostic> own_warnings(const CompilerOutput& output) {
  std::vector<Diagnostic> own;
  for (const Diagnostic& said : output.diagnostics)
    if (said.kind == "warning" && said.is_own()) own.push_back(said);
  return own;
}

std::string poisoned_word(const std::string& message) {
  constexpr std::string_view kWords = "attempt to use poisoned \"";
  if (!message.starts_with(kWords) || !message.ends_with('"')) return "";
  return message.substr(kWords.size(), message.size() - kWords.size() - 1);
}

std::string tidy_messages(const CompilerOutput& output) {
  const std::string said = in_order(output.diagnostics);
  std::string text = speaks_of_error(output.plain) ? output.plain + said : said + output.plain;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return printable(text, kKept);
}

std::optional<std::string> limit_in(std::string_view plain) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kWordings{{
      {"CPU time limit exceeded", "CPU time"},
      {"File size limit exceeded", "file size"},
      {"File too large", "file size"},
      {"out of memory allocating", "memory"},
      {"virtual memory exhausted", "memory"},
      {"memory exhausted", "memory"},
      {"Killed signal terminated program", "memory"},
      {"Cannot allocate memory", "memory"},
      {"Resource temporarily unavailable", "processes"},
      {"No space left on device", "disk space"},
      {"Disk quota exceeded", "disk space"},
      {"Input/output error", "what its disk can do"},
  }};
  for (const auto& [wording, limit] : kWordings)
    if (plain.find(wording) != std::string_view::npos) return std::string(limit);
  return std::nullopt;
}

}  // namespace gauntlet
