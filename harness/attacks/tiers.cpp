#include <unistd.h>

#include "harness/attacks/attack_matrix.h"
#include "harness/attacks/testbed.h"
#include "harness/sandbox/namespaces.h"

namespace gauntlet {

std::vector<Tier> tiers_here(const Testbed& testbed) {
  const std::string not_root = geteuid() == 0 ? "" : "not started as root";
  return {{"user", "", false, false},
          {"user+namespaces", testbed.as_ordinary_user([] { return why_no_namespaces(); }), false,
           true},
          {"root", not_root, true, false},
          {"root+namespaces", not_root.empty() ? why_no_namespaces() : not_root, true, true},
          {"cgroups", "no part of the sandbox uses them", true, true}};
}

}  // namespace gauntlet
