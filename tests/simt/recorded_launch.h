// SPDX-License-Identifier: Apache-2.0
// Launches for a GPU to repeat. Where the environment variable GAUNTLET_RECORD_LAUNCHES names a
// folder, each launch of SimulatedDevice that completes without a finding is written there, with
// all memory before it and after it; tests/simt/replay_on_gpu.py executes the same PTX on a GPU and
// compares the bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/simt/simt.h"

namespace gauntlet::simt {

class RecordedLaunch {
 public:
  /// Memory as it is before the launch. Copies nothing where nothing is recorded.
  RecordedLaunch(const std::string& ptx, const Kernel& kernel, const LaunchShape& shape,
                 std::span<const std::byte> parameters, DeviceMemory& memory);

  /// Writes the files NNNNN.json, .ptx and .bin (memory before, then memory after, region by
  /// region in the order of the JSON). Throws std::runtime_error where that fails.
  void keep(const LaunchResult& result, DeviceMemory& memory) const;

 private:
  std::optional<std::string> folder_;
  std::string ptx_;
  std::string kernel_;
  LaunchShape shape_;
  std::vector<std::byte> parameters_;
  std::string before_;
};

}  // namespace gauntlet::simt
