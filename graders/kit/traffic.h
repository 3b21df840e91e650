// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/device/device_report.h"
#include "harness/grading/probe.h"

namespace gauntlet::kit {

/// The least that a call has to move between its kernels and device memory.
struct TrafficBudget {
  struct Input {
    std::string name;      // as the contract calls it: "logits"
    std::uint64_t bytes;   // that have to be read, once
    bool is_main = false;  // whose passes are claimed
  };
  std::vector<Input> inputs;  // the large ones, each of which is judged by itself
  std::uint64_t bytes;        // of everything that has to be read or written

  /// As multiples of the least: up to `full` costs no points, above `most` the check fails, and
  /// between them the share of points is full / multiple.
  double full = 1.1;
  double most = 2.5;
};

/// What kernels did with one buffer in a call, all launches together.
simt::BufferTraffic traffic_of(const DeviceReport& report, std::string_view buffer);

/// From here on the check's calls are counted as judge_traffic wants it.
void count_traffic(Probe& probe);

/// Judges the last call: how often each input was read, in bytes that lanes asked for, and what
/// all memory traffic took in sectors of 32 bytes, which tells scattered accesses. Scratch memory
/// counts in the second. Both are exact, and recorded as facts.
void judge_traffic(Probe& probe, const TrafficBudget& budget);

}  // namespace gauntlet::kit
