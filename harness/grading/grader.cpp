// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/grader.h"

#include <algorithm>

namespace gauntlet {

Grader Grader::on(Device device) const {
  Grader chosen = *this;
  std::erase_if(chosen.checks, [&](const Check& check) {
    return std::ranges::find(check.devices, device) == check.devices.end();
  });
  return chosen;
}

}  // namespace gauntlet
