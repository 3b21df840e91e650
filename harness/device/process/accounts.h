// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/simt/execute/launch.h"

namespace gauntlet::device_process {

/// All launches of one kernel since the call began, summed up.
struct KernelRecord {
  std::string name;
  std::uint64_t launches = 0;
  simt::LaunchShape shape;                        // of the first
  simt::Status status = simt::Status::completed;  // of the first that did not complete
  std::string why;                                // of the same
  simt::Counters counters;                        // the sum
  std::vector<simt::Diagnostic> diagnostics;      // by fault and line
  std::string output;                             // of printf, cut
  bool races_complete = true;
};

/// What happened on the device since a call began.
struct Accounts {
  std::vector<KernelRecord> kernels;  // in the order of their first launches
  std::uint64_t copied_in = 0;        // bytes, host to device
  std::uint64_t copied_out = 0;       // bytes, device to host
  std::uint64_t commands = 0;
  std::uint64_t allocations = 0;
  std::uint64_t left_behind = 0;      // queued work that the settled stream did not depend on
  std::vector<std::string> refusals;  // commands that got an error, the first of them
  std::string mailbox_fault;          // a command that the runtime never sends
  bool out_of_memory = false;         // the process's own

  void add(const std::string& kernel, const simt::LaunchShape& shape, simt::LaunchResult result);
  void refuse(const std::string& text);
};

}  // namespace gauntlet::device_process
