// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/tolerance.h"

#include <algorithm>

namespace gauntlet::kit {

void note_share(Probe& probe, double share) {
  constexpr const char* kName = "largest share of the tolerance";
  for (const Fact& fact : probe.observation().facts)
    if (fact.name == kName) share = std::max(share, fact.value);
  probe.fact(kName, share, "");
}

}  // namespace gauntlet::kit
