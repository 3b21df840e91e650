// SPDX-License-Identifier: Apache-2.0
#include "harness/device/device_control.h"

#include <algorithm>

namespace gauntlet {

void DeviceRecord::add(const DeviceReport& report) {
  for (DeviceReport::Diagnostic& seen : report.diagnostics()) {
    const auto same = [&](const DeviceReport::Diagnostic& known) {
      return known.fault == seen.fault && known.source == seen.source;
    };
    if (std::ranges::none_of(faults, same)) faults.push_back(std::move(seen));
  }
  for (const DeviceReport::Kernel& kernel : report.kernels)
    races_complete = races_complete && kernel.races_complete;
  most_left_behind = std::max(most_left_behind, report.left_behind);
}

}  // namespace gauntlet
