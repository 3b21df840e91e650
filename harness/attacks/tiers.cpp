#include <unistd.h>

#include "harness/attacks/attack_matrix.h"
#include "harness/attacks/testbed.h"
#include "harness/sandbox/control_group.h"
#include "harness/sandbox/namespaces.h"

namespace gauntlet {

std::vector<Tier> tiers_here(const Testbed& testbed) {
  const std::string not_root = geteuid() == 0 ? "" : "not started as root";
  const std::string no_namespaces = not_root.empty() ? why_no_namespaces() : not_root;
  std::vector<Tier> tiers{
      {"user", "", false, false},
      {"user+namespaces", testbed.as_ordinary_user([] { return why_no_namespaces(); }), false,
       true},
      {"root", not_root, true, false}};
  // Groups only add to it: where they can be made there is no need to try without.
  const std::string& no_groups = why_no_control_group();
  if (!no_groups.empty()) tiers.push_back({"root+namespaces", no_namespaces, true, true});
  tiers.push_back(
      {"root+namespaces+cgroups", no_groups.empty() ? no_namespaces : no_groups, true, true});
  return tiers;
}

}  // namespace gauntlet
