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

std::string_view GraderEntry::digest(Device device) const {
  return device == Device::cpu ? cpu_digest : cuda_digest;
}

}  // namespace gauntlet
