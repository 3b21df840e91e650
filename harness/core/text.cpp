// SPDX-License-Identifier: Apache-2.0
#include "harness/core/text.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

/// Typing errors between two words: inserted, lost, changed or swapped letters (optimal string
/// alignment), upper and lower case being the same letter.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const auto same = [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  };
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = same(a[i - 1], b[j - 1]) ? 0 : 1;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  // 0: not UTF-8
};

/// The first character of `text`, refusing overlong forms, surrogates and cut sequences.
Character decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return {};
  std::uint32_t code = first & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = (code << 6) | (byte(i) & 0x3Fu);
  }
  constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kSmallest[bytes] || code > 0x10FFFF || surrogate) return {};
  return {code, bytes};
}

/// Length of a control sequence "ESC [ parameters final", so that "[31m" does not stay behind; 1
/// for any other ESC.
std::size_t escape_length(std::string_view text) {
  if (text.size() < 2 || text[1] != '[') return 1;
  std::size_t end = 2;
  while (end < text.size() && text[end] >= 0x20 && text[end] <= 0x3F) ++end;
  const bool finished = end < text.size() && text[end] >= 0x40 && text[end] <= 0x7E;
  return finished ? end + 1 : end;
}

bool is_control(std::uint32_t code) {
  if (code == '\t' || code == '\n') return false;
  const bool c0_or_c1 = code < 0x20 || (code >= 0x7F && code < 0xA0);
  // Characters that reorder or break the line they stand in: bidirectional marks, line separators.
  const bool reorders = code == 0x061C || (code >= 0x200E && code <= 0x200F) ||
                        (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  return c0_or_c1 || reorders;
}

}  // namespace

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
  if (word.size() > 200) return "";  // nobody's typing error, and the table would be large
  const std::string* nearest = nullptr;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const auto& candidate : known) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < least) {
      least = distance;
      nearest = &candidate;
    }
  }
  return nearest ? fmt::format(", did you mean '{}'?", *nearest) : "";
}

std::string sentence_list(const std::vector<std::string>& items) {
  if (items.empty()) return "nothing";
  std::string text = items.front();
  for (std::size_t i = 1; i < items.size(); ++i)
    text += (i + 1 == items.size() ? " and " : ", ") + items[i];
  return text;
}

std::string printable(std::string_view text, std::size_t limit) {
  std::string safe;
  while (!text.empty()) {
    const Character next = decode(text);
    std::size_t consumed = std::max<std::size_t>(next.bytes, 1);
    std::string_view shown = text.substr(0, consumed);
    if (text.substr(0, 2) == "\r\n") {
      shown = "";
    } else if (next.bytes == 0 || is_control(next.code)) {
      shown = kReplacement;
      if (next.code == 0x1B) consumed = escape_length(text);
    }
    if (safe.size() + shown.size() > limit) break;
    safe += shown;
    text.remove_prefix(consumed);
  }
  return safe;
}

bool contains(std::span<const std::string> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string one_line(std::string_view text, std::size_t limit) {
  std::string line = printable(text, limit);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return line;
}

}  // namespace gauntlet
