// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "harness/device/process/engine.h"

namespace gauntlet::device_process {

/// All that is known of the device since the call began. The fields are those of DeviceReport.
nlohmann::json report_of(Engine& engine);

}  // namespace gauntlet::device_process
