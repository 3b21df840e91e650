// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unistd.h>

#include "harness/attacks/attack_matrix.h"
#include "harness/attacks/testbed.h"

namespace gauntlet {
namespace {

using Names = std::vector<std::string>;

// Of the walls that a machine may lack, those that make another tier. Mounts are within namespaces.
const Names kDividing{"namespaces", "cgroups"};

/// What the probe of the first missing one says; empty: all are there.
std::string why_missing(const Names& walls) {
  for (const std::string& name : walls)
    if (const ProbeResult found = wall_named(name).probe(); !found.holds) return found.detail;
  return "";
}

Tier tier(bool as_root, const Names& besides, std::string why_not) {
  Tier made{as_root ? "root" : "user", std::move(why_not), as_root, without(kDividing)};
  for (const std::string& name : besides) {
    made.name += "+" + name;
    made.walls.*wall_named(name).up = true;
  }
  return made;
}

}  // namespace

std::vector<Tier> tiers_here(const Testbed& testbed) {
  const auto as_user = [&](const Names& besides) {
    return tier(false, besides, testbed.as_ordinary_user([&] { return why_missing(besides); }));
  };
  const auto as_root = [&](const Names& besides) {
    return tier(true, besides, geteuid() == 0 ? why_missing(besides) : "not started as root");
  };
  std::vector<Tier> tiers{as_user({}), as_user({"namespaces"}), as_root({})};
  const Tier with_groups = as_root({"namespaces", "cgroups"});
  // Groups only add to it: where they can be made there is no need to try without.
  if (!with_groups.why_not.empty()) tiers.push_back(as_root({"namespaces"}));
  tiers.push_back(with_groups);
  return tiers;
}

void leave_out_middle(std::vector<Tier>& tiers) {
  const auto is_here = [](const Tier& tier) { return tier.why_not.empty(); };
  const auto first = std::ranges::find_if(tiers, is_here);
  const auto last = std::find_if(tiers.rbegin(), tiers.rend(), is_here);
  for (auto tier = first; tier != tiers.end() && tier < last.base() - 1; ++tier)
    if (tier != first && is_here(*tier)) tier->why_not = "it is between two that are";
}

}  // namespace gauntlet
