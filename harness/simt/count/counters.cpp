// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/count/counters.h"

namespace gauntlet::simt {

double Counters::lane_efficiency() const {
  if (warp_instructions == 0) return 1;
  return static_cast<double>(thread_instructions) /
         (static_cast<double>(warp_instructions) * kLanes);
}

}  // namespace gauntlet::simt
