#include "harness/build/compiler_messages.h"

#include <algorithm>
#include <array>
#include <utility>

#include "harness/core/text.h"

namespace gauntlet {
namespace {

constexpr std::size_t kKept = std::size_t{8} << 10;

/// Where the line of the first error begins; npos when nothing is an error.
std::size_t first_error(std::string_view text) {
  std::size_t at = std::string_view::npos;
  for (const std::string_view mark :
       {"error: ", "undefined reference to", "multiple definition of", "cannot find "})
    at = std::min(at, text.find(mark));
  if (at == std::string_view::npos || at == 0) return at;
  const std::size_t line_end = text.rfind('\n', at);
  return line_end == std::string_view::npos ? 0 : line_end + 1;
}

}  // namespace

int count_warnings(std::string_view output) {
  int count = 0;
  constexpr std::string_view kMark = " warning: ";
  for (std::size_t at = output.find(kMark); at != std::string_view::npos;
       at = output.find(kMark, at + kMark.size()))
    ++count;
  return count;
}

std::string tidy_messages(std::string_view output, std::string_view scratch) {
  std::string text(output);
  const std::string folder = std::string(scratch) + "/";
  for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder, at))
    text.erase(at, folder.size());
  if (const std::size_t error = first_error(text); error != std::string::npos && error > 0)
    std::rotate(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(error), text.end());
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return printable(text, kKept);
}

std::optional<std::string> limit_in(std::string_view output) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kWordings{{
      {"CPU time limit exceeded", "CPU time"},
      {"File size limit exceeded", "file size"},
      {"File too large", "file size"},
      {"out of memory allocating", "memory"},
      {"virtual memory exhausted", "memory"},
      {"memory exhausted", "memory"},
      {"Killed signal terminated program", "memory"},
  }};
  for (const auto& [wording, limit] : kWordings)
    if (output.find(wording) != std::string_view::npos) return std::string(limit);
  return std::nullopt;
}

}  // namespace gauntlet
