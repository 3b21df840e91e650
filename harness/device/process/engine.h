// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/device/process/accounts.h"
#include "harness/device/process/back_end.h"
#include "harness/device/process/buffers.h"
#include "harness/device/process/streams.h"

namespace gauntlet::device_process {

/// The device: what the worker's and the grader's side act upon, one at a time.
struct Engine {
  explicit Engine(std::unique_ptr<BackEnd> made_of) : back_end(std::move(made_of)) {}

  std::unique_ptr<BackEnd> back_end;
  Streams streams;
  Buffers buffers;
  Accounts accounts;
  std::vector<KernelInfo> kernels;  // with the limits of shared memory that were set

  simt::LaunchOptions options;       // budget: what is left of the call's
  std::uint64_t budget = 0;          // the call's, instructions of warps
  std::uint32_t error = 0;           // the sticky one, a cudaError_t; 0: none
  std::string error_why;             // a sentence with the line
  std::uint64_t capacity = 0;        // bytes of device memory
  std::uint64_t scratch_pieces = 0;  // of the worker's memory that there ever were

  /// Maps memory and enters it. Nothing where there is too little, or where there were too many
  /// pieces.
  Buffer* map(const std::string& name, Role role, std::uint64_t bytes,
              simt::Alignment alignment = {});
  void unmap(std::uint64_t address);

  /// Executes a launch that was accepted, unless the context is dead.
  void launch(std::size_t kernel, const simt::LaunchShape& shape,
              const std::vector<std::byte>& parameters);

  /// Takes the price of a fill or a copy within the device from the budget. False where the context
  /// is dead, or now is.
  bool pay_for(std::uint64_t bytes);

  /// The context is dead from now on.
  void fail(std::uint32_t sticky, const std::string& why);

  void out_of_budget(const std::string& when);

  /// Runs work that may need memory; where there is none, the context is dead.
  void guarded(const std::function<void()>& work);
};

}  // namespace gauntlet::device_process
