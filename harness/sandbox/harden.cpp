// SPDX-License-Identifier: Apache-2.0
#include "harness/sandbox/harden.h"

#include <sys/prctl.h>
#include <sys/resource.h>

#include "harness/sandbox/fd.h"

namespace gauntlet {

void harden_this_process() {
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) broken_call("making this process undumpable");
  const rlimit none{0, 0};
  if (setrlimit(RLIMIT_CORE, &none) != 0) broken_call("switching off core dumps");
}

}  // namespace gauntlet
