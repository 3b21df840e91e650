// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "harness/device/wire.h"
#include "harness/simt/include/cuda_runtime_api.h"

namespace gauntlet::cuda_runtime {

/// A kernel as the device knows it.
struct Kernel {
  std::uint64_t number = 0;
  device_wire::KernelFacts facts{};
  std::vector<device_wire::Parameter> parameters;
};

/// The kernel behind a host function, asked of the device anew where `fresh`: its facts may have
/// changed.
cudaError_t find_kernel(const void* function, Kernel& kernel, bool fresh = false);

/// Where a variable lies on the device.
cudaError_t find_variable(const void* variable, std::uint64_t& address, std::uint64_t& bytes);

}  // namespace gauntlet::cuda_runtime
