// SPDX-License-Identifier: Apache-2.0
#include "harness/build/clang_messages.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace gauntlet {
namespace {

constexpr std::array<std::string_view, 4> kKinds{"warning", "error", "fatal error", "note"};

/// The number that begins here, and what follows it with its ':'; nothing where there is none.
std::optional<int> number_before_colon(std::string_view& text) {
  int number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto digits = static_cast<std::size_t>(end - text.data());
  if (fault != std::errc() || digits >= text.size() || text[digits] != ':') return std::nullopt;
  text.remove_prefix(digits + 1);
  return number;
}

/// "message [-Woption]" apart.
void set_message(std::string_view text, Diagnostic& said) {
  constexpr std::string_view kOption = " [-W";
  const std::size_t at = text.rfind(kOption);
  if (at != std::string_view::npos && text.ends_with(']')) {
    said.option = text.substr(at + 2, text.size() - at - 3);
    text = text.substr(0, at);
  }
  said.message = text;
}

/// "kind: message", and whatever place the message has.
bool set_words(std::string_view text, Diagnostic& said) {
  for (const std::string_view kind : kKinds) {
    if (!text.starts_with(kind) || !text.substr(kind.size()).starts_with(": ")) continue;
    said.kind = kind;
    set_message(text.substr(kind.size() + 2), said);
    return true;
  }
  return false;
}

/// "solution.cu:3:7: warning: unused variable 'x' [-Wunused-variable]"; nothing for another line.
std::optional<Diagnostic> message_in(std::string_view line) {
  Diagnostic said;
  for (std::size_t colon = line.find(':'); colon != std::string_view::npos;
       colon = line.find(':', colon + 1)) {
    std::string_view rest = line.substr(colon + 1);
    const auto number = number_before_colon(rest);
    const auto column = number ? number_before_colon(rest) : std::nullopt;
    if (!column || !rest.starts_with(' ') || !set_words(rest.substr(1), said)) continue;
    said.file = line.substr(0, colon);
    said.line = *number;
    said.column = *column;
    return said;
  }
  // Of no place: of the driver and the linker, by whom it is said.
  if (set_words(line, said)) return said;
  return std::nullopt;
}

bool is_count(std::string_view line) {
  return line.find(" generated") != std::string_view::npos &&
         (line.ends_with(".") || line.find(" when compiling for ") != std::string_view::npos);
}

}  // namespace

std::vector<std::string> clang_telling_flags() {
  return {"-H", "-fno-caret-diagnostics", "-fno-color-diagnostics",
          "-fno-diagnostics-show-note-include-stack", "-fdiagnostics-show-option"};
}

CompilerOutput read_clang_output(std::string_view output) {
  CompilerOutput all;
  while (!output.empty()) {
    const std::size_t end = std::min(output.find('\n'), output.size());
    const std::string_view line = output.substr(0, end);
    output.remove_prefix(std::min(end + 1, output.size()));
    const std::size_t depth = line.find_first_not_of('.');
    if (depth != std::string_view::npos && depth > 0 && line[depth] == ' ')
      all.included.push_back({static_cast<int>(depth), std::string(line.substr(depth + 1))});
    else if (auto said = message_in(line))
      all.diagnostics.push_back(std::move(*said));
    else if (!is_count(line) && !line.starts_with("In file included from "))
      all.plain += std::string(line) + "\n";
  }
  return all;
}

void add_new(const std::vector<Diagnostic>& more, std::vector<Diagnostic>& all) {
  bool skips = false;  // notes go with what they explain
  for (const Diagnostic& one : more) {
    if (one.kind != "note")
      skips = std::any_of(all.begin(), all.end(), [&](const Diagnostic& known) {
        return known.kind == one.kind && known.file == one.file && known.line == one.line &&
               known.column == one.column && known.message == one.message;
      });
    if (!skips) all.push_back(one);
  }
}

}  // namespace gauntlet
