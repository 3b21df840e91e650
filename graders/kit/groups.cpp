// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/groups.h"

#include <algorithm>

namespace gauntlet::kit {

std::vector<Check> joined(std::initializer_list<std::vector<Check>> groups) {
  std::vector<Check> all;
  for (const std::vector<Check>& group : groups) all.insert(all.end(), group.begin(), group.end());
  std::ranges::stable_sort(all, {}, &Check::section);
  return all;
}

}  // namespace gauntlet::kit
