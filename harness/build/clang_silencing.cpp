// SPDX-License-Identifier: Apache-2.0
#include "harness/build/clang_silencing.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "harness/build/cuda_commands.h"
#include "harness/build/silencing.h"

namespace gauntlet {
namespace {

/// As clang prints them, whatever stood between the words.
constexpr std::array<std::string_view, 2> kSilencing{"#pragma GCC diagnostic",
                                                     "#pragma clang diagnostic"};

/// Where the next line comes from.
struct LinePlace {
  std::string file;
  int line = 0;
  bool is_systems = false;  // clang takes it for text of a system header
};

/// "# 12 "solution.cu" 2 3"; the last number stands for a system header.
bool is_marker(std::string_view line, LinePlace& place) {
  if (!line.starts_with("# ")) return false;
  int number = 0;
  const auto [end, fault] = std::from_chars(line.data() + 2, line.data() + line.size(), number);
  const std::string_view rest = line.substr(static_cast<std::size_t>(end - line.data()));
  if (fault != std::errc() || !rest.starts_with(" \"")) return false;
  place = {std::string(rest.substr(2, rest.find('"', 2) - 2)), number, rest.ends_with(" 3")};
  return true;
}

bool silences(std::string_view line) {
  return std::any_of(kSilencing.begin(), kSilencing.end(),
                     [&](std::string_view start) { return line.starts_with(start); });
}

bool is_submissions(const std::string& file) {
  return !is_system_file(file) && !file.starts_with(kCudaFolder) && !file.starts_with('<');
}

}  // namespace

std::vector<Diagnostic> line_directives(const CompilerOutput& searched) {
  std::vector<Diagnostic> found;
  for (const Diagnostic& said : searched.diagnostics)
    if (said.is_error() && is_submissions(said.file) &&
        said.message.starts_with("invalid preprocessing directive"))
      found.push_back(renamed_line(said.file, said.line, said.column));
  return found;
}

std::vector<Diagnostic> silencing_pragmas(std::string_view preprocessed) {
  std::vector<Diagnostic> found;
  LinePlace place;
  while (!preprocessed.empty()) {
    const std::size_t end = std::min(preprocessed.find('\n'), preprocessed.size());
    const std::string_view line = preprocessed.substr(0, end);
    preprocessed.remove_prefix(std::min(end + 1, preprocessed.size()));
    if (is_marker(line, place)) {
      if (place.is_systems && is_submissions(place.file))
        found.push_back(silencer(place.file, place.line, 1, kTakenForTheSystems));
      continue;
    }
    if (silences(line) && is_submissions(place.file))
      found.push_back(silencer(place.file, place.line, 1,
                               "'" + std::string(line.substr(8, line.find(' ', 12) - 8)) +
                                   "', a pragma that silences the compiler,"));
    ++place.line;
  }
  return found;
}

}  // namespace gauntlet
