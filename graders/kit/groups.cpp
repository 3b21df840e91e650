// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/groups.h"

#include <algorithm>

namespace gauntlet::kit {
namespace {

std::vector<Check> asked_on(const std::vector<Device>& devices, std::vector<Check> group) {
  for (Check& check : group) check.devices = devices;
  return group;
}

}  // namespace

std::vector<Check> on_every_device(std::vector<Check> group) {
  return asked_on(kAllDevices, std::move(group));
}

std::vector<Check> on_cuda(std::vector<Check> group) {
  return asked_on({Device::cuda}, std::move(group));
}

std::vector<Check> joined(std::initializer_list<std::vector<Check>> groups) {
  std::vector<Check> all;
  for (const std::vector<Check>& group : groups) all.insert(all.end(), group.begin(), group.end());
  std::ranges::stable_sort(all, {}, &Check::section);
  return all;
}

}  // namespace gauntlet::kit
