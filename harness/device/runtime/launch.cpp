// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <vector>

#include "harness/device/runtime/mailbox.h"
#include "harness/device/runtime/registry.h"

namespace {

using namespace gauntlet::cuda_runtime;
using gauntlet::device_wire::Command;
using gauntlet::device_wire::Kind;
using gauntlet::device_wire::Parameter;

struct Configuration {
  dim3 grid, block;
  std::size_t shared;
  void* stream;
};

/// Between kernel<<<...>>> and its arguments: these may launch kernels themselves.
std::vector<Configuration>& configurations() {
  thread_local std::vector<Configuration> pending;
  return pending;
}

cudaError_t launch(const void* function, dim3 grid, dim3 block, void** arguments,
                   std::size_t shared, cudaStream_t stream) {
  Kernel kernel;
  if (const cudaError_t error = find_kernel(function, kernel); error != cudaSuccess) return error;
  std::byte parameters[gauntlet::device_wire::kMostParameters] = {};
  std::size_t used = 0;
  for (std::size_t n = 0; n < kernel.parameters.size(); ++n) {
    const Parameter& at = kernel.parameters[n];
    if (at.offset > sizeof parameters || at.bytes > sizeof parameters - at.offset)
      return cudaErrorInvalidValue;
    std::memcpy(parameters + at.offset, arguments[n], at.bytes);
    used = at.offset + at.bytes;
  }
  Command asked = command(Kind::launch);
  asked.first = kernel.number;
  asked.grid[0] = grid.x, asked.grid[1] = grid.y, asked.grid[2] = grid.z;
  asked.block[0] = block.x, asked.block[1] = block.y, asked.block[2] = block.z;
  asked.shared = shared;
  asked.stream = number_of(stream);
  return static_cast<cudaError_t>(ask(asked, {parameters, used}).error);
}

}  // namespace

extern "C" {

unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, void* stream) {
  configurations().push_back({grid, block, shared, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  if (configurations().empty()) return noted(cudaErrorInvalidConfiguration);
  const Configuration& last = configurations().back();
  *grid = last.grid;
  *block = last.block;
  *shared = last.shared;
  *static_cast<void**>(stream) = last.stream;
  configurations().pop_back();
  return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared, cudaStream_t stream) {
  return noted(launch(kernel, grid, block, arguments, shared, stream));
}
}
