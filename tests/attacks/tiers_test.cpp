// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "harness/attacks/attack_matrix.h"

using namespace gauntlet;

namespace {

/// Which of the tiers are tried; "-" stands for one that is not available.
std::string tried(const std::vector<std::string>& names) {
  std::vector<Tier> tiers;
  for (const std::string& name : names)
    tiers.push_back({name, name == "-" ? "no such wall" : "", false, {}});
  leave_out_middle(tiers);
  std::string left;
  for (const Tier& tier : tiers)
    if (tier.why_not.empty()) left += tier.name;
  CHECK(tiers.size() == names.size());
  return left;
}

}  // namespace

TEST_CASE("a brief audit tries the first and the last of the tiers that are available") {
  CHECK(tried({"a", "b", "c", "d"}) == "ad");
  CHECK(tried({"-", "b", "c", "d", "-"}) == "bd");
  CHECK(tried({"a", "-", "c"}) == "ac");
  CHECK(tried({"a", "b"}) == "ab");
  CHECK(tried({"-", "b", "-"}) == "b");
  CHECK(tried({"-", "-"}) == "");
  CHECK(tried({}) == "");
}
