// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/grader.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/grading/cell.h"
#include "harness/grading/self_test.h"
#include "harness/grading/warning_free_build.h"

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

const GraderEntry& grader_for(const std::string& challenge_id) {
  std::string known;
  for (const GraderEntry& entry : all_graders()) {
    if (entry.id == challenge_id) return entry;
    known += (known.empty() ? "" : ", ") + std::string(entry.id);
  }
  throw UserError(
      fmt::format("this program was built without a grader for '{}' (it has: {}); build it again",
                  challenge_id, known));
}

Grader grader_on(const std::string& challenge_id, Device device) {
  return grader_for(challenge_id).make().on(device);
}

std::vector<CheckInfo> checks_of(const std::string& challenge_id, Device device) {
  std::vector<CheckInfo> checks{warning_free_build_info()};
  if (has_self_tests(device)) checks.push_back(self_test_info());
  for (Check& check : grader_on(challenge_id, device).checks) checks.push_back(std::move(check));
  return checks;
}

}  // namespace gauntlet
