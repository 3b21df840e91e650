// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <map>

#include "harness/audit/wild_rules.h"

namespace gauntlet {
namespace {

/// All lines that the bytes lie in.
std::pair<std::size_t, std::size_t> lines_of(std::string_view source, std::size_t begin,
                                             std::size_t end) {
  const std::size_t before = begin == 0 ? std::string_view::npos : source.rfind('\n', begin - 1);
  const std::size_t after = source.find('\n', end);
  return {before == std::string_view::npos ? 0 : before + 1,
          after == std::string_view::npos ? source.size() : after};
}

/// On one line, and each gap one space.
std::string without_gaps(std::string_view text) {
  std::string told;
  for (const char c : text) {
    const bool gap = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!gap)
      told += c;
    else if (!told.empty() && told.back() != ' ')
      told += ' ';
  }
  while (!told.empty() && told.back() == ' ') told.pop_back();
  return told;
}

}  // namespace

std::vector<WildSite> wild_sites(const WildRule& rule, std::string_view source) {
  std::vector<WildSite> sites;
  std::map<std::string, int> alike;
  for (WildRule::Change& change : rule.find(WildCode(source))) {
    const auto [begin, end] = lines_of(source, change.begin, change.end);
    const std::string head(source.substr(begin, change.begin - begin));
    WildSite site{change.begin, change.end, std::move(change.with), 1, "", "", 1};
    site.line += static_cast<int>(
        std::count(source.begin(), source.begin() + std::ptrdiff_t(site.begin), '\n'));
    site.before = without_gaps(source.substr(begin, end - begin));
    site.after =
        without_gaps(head + site.with + std::string(source.substr(site.end, end - site.end)));
    if (site.before.find("__builtin_prefetch") != std::string::npos) continue;  // changes no result
    site.place = ++alike[site.before];
    sites.push_back(std::move(site));
  }
  return sites;
}

std::string changed(std::string_view source, const WildSite& site) {
  const std::string_view gone = source.substr(site.begin, site.end - site.begin);
  const auto lines = std::ranges::count(gone, '\n') - std::ranges::count(site.with, '\n');
  return std::string(source.substr(0, site.begin)) + site.with +
         std::string(static_cast<std::size_t>(std::max<std::ptrdiff_t>(lines, 0)), '\n') +
         std::string(source.substr(site.end));
}

}  // namespace gauntlet
