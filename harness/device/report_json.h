// SPDX-License-Identifier: Apache-2.0
// The parts of a report that the device process writes as the grader reads them.
#pragma once

#include <nlohmann/json.hpp>

#include "harness/device/device_report.h"

namespace gauntlet::simt {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Traffic, requests, bytes, sectors)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BufferTraffic, read, written, atomic)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SharedTraffic, requests, bytes, wavefronts, least_wavefronts)

}  // namespace gauntlet::simt

namespace gauntlet {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeviceReport::Diagnostic, fault, source, count, text)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeviceReport::Buffer, name, role, address, bytes, copied_in,
                                   copied_out, unwritten, from_host)

}  // namespace gauntlet
