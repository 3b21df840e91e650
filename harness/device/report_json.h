// SPDX-License-Identifier: Apache-2.0
// The parts of a report that the device process writes as the grader reads them.
#pragma once

#include <nlohmann/json.hpp>

#include "harness/core/text.h"
#include "harness/device/device_report.h"
#include "harness/simt/decode/instr.h"

namespace gauntlet::simt {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Traffic, requests, bytes, sectors)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BufferTraffic, read, written, atomic)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SharedTraffic, requests, bytes, wavefronts, least_wavefronts)

}  // namespace gauntlet::simt

namespace gauntlet {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeviceReport::Diagnostic, fault, source, count, text)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeviceReport::Buffer, name, role, address, bytes, copied_in,
                                   copied_out, unwritten, from_host)

/// What was counted of a kernel, the same bytes wherever it was executed. Names of buffers are cut
/// and made printable: they may be the solution's.
inline nlohmann::json counters_json(const simt::Counters& counted) {
  using nlohmann::json;
  json buffers = json::object(), classes = json::object();
  for (const auto& [name, of_buffer] : counted.buffers) buffers[one_line(name, 200)] = of_buffer;
  for (std::size_t n = 0; n < simt::kClasses; ++n)
    classes[simt::name_of(static_cast<simt::Class>(n))] = counted.by_class[n];
  return {{"blocks", counted.blocks},
          {"warps", counted.warps},
          {"warp_instructions", counted.warp_instructions},
          {"thread_instructions", counted.thread_instructions},
          {"by_class", std::move(classes)},
          {"global", counted.global},
          {"buffers", std::move(buffers)},
          {"shared_loads", counted.shared_loads},
          {"shared_stores", counted.shared_stores},
          {"shared_atomics", counted.shared_atomics},
          {"local_loads", counted.local_loads},
          {"local_stores", counted.local_stores},
          {"barriers", counted.barriers},
          {"branches", counted.branches},
          {"divergent_branches", counted.divergent_branches}};
}

}  // namespace gauntlet
