// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/quantities.h"

#include <charconv>
#include <fmt/format.h>
#include <map>

#include "harness/core/error.h"
#include "harness/core/text.h"

namespace gauntlet {
namespace {

/// A whole number before one of the units, as a number of what they count.
std::uint64_t parse_quantity(const std::string& option, const std::string& word,
                             const std::map<char, std::uint64_t>& units,
                             std::string_view examples) {
  std::uint64_t number = 0;
  const char* end = word.data() + word.size();
  const auto parsed = std::from_chars(word.data(), end, number);
  const bool one_unit = parsed.ec == std::errc() && parsed.ptr + 1 == end;
  const auto unit = one_unit ? units.find(*parsed.ptr) : units.end();
  constexpr std::uint64_t kMost = 1'000'000;  // nothing that follows can overflow
  if (unit == units.end() || number > kMost)
    throw UserError(fmt::format("{} {}: must be a whole number up to {} with its unit: {}", option,
                                printable(word, 40), kMost, examples));
  return number * unit->second;
}

}  // namespace

std::chrono::seconds parse_age(const std::string& option, const std::string& word) {
  return std::chrono::seconds(parse_quantity(
      option, word, {{'m', 60}, {'h', 60 * 60}, {'d', 24 * 60 * 60}}, "90m, 12h or 30d"));
}

std::uint64_t parse_size(const std::string& option, const std::string& word) {
  return parse_quantity(
      option, word,
      {{'K', std::uint64_t{1} << 10}, {'M', std::uint64_t{1} << 20}, {'G', std::uint64_t{1} << 30}},
      "500M or 2G");
}

std::string size_text(std::uint64_t bytes) {
  const auto amount = static_cast<double>(bytes);
  if (bytes >= std::uint64_t{1} << 30) return fmt::format("{:.1f} GiB", amount / (1 << 30));
  if (bytes >= std::uint64_t{1} << 20) return fmt::format("{:.1f} MiB", amount / (1 << 20));
  if (bytes >= std::uint64_t{1} << 10) return fmt::format("{:.1f} KiB", amount / (1 << 10));
  return fmt::format("{} bytes", bytes);
}

}  // namespace gauntlet
