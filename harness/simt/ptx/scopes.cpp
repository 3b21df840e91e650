// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/ptx/scopes.h"

#include <charconv>

namespace gauntlet::simt::ptx {

void Scopes::declare_range(std::string_view prefix, std::uint64_t count, Type type) {
  scopes_.back().ranges[prefix] = {type, count, {}};
}

std::optional<std::uint32_t> Scopes::find(std::string_view name, std::vector<Register>& registers) {
  const auto add = [&](Type type) {
    registers.push_back({std::string(name), type});
    return static_cast<std::uint32_t>(registers.size() - 1);
  };
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  const std::string_view prefix = name.substr(0, digits);
  std::uint64_t number = 0;
  const bool numbered =
      digits < name.size() &&
      std::from_chars(name.data() + digits, name.data() + name.size(), number).ec == std::errc();
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto single = scope->singles.find(name); single != scope->singles.end()) {
      if (!single->second.number) single->second.number = add(single->second.type);
      return single->second.number;
    }
    const auto range = numbered ? scope->ranges.find(prefix) : scope->ranges.end();
    if (range != scope->ranges.end() && number < range->second.count) {
      const auto known = range->second.numbers.find(number);
      if (known != range->second.numbers.end()) return known->second;
      return range->second.numbers[number] = add(range->second.type);
    }
  }
  return std::nullopt;
}

}  // namespace gauntlet::simt::ptx
