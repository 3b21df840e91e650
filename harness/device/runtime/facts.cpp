// SPDX-License-Identifier: Apache-2.0
// What a solution can ask about the device and about its kernels: the limits of compute capability
// 8.0, as the CUDA C++ Programming Guide lists them, and the sizes of an A100.
#include <algorithm>
#include <cstring>

#include "harness/device/runtime/mailbox.h"
#include "harness/device/runtime/registry.h"

namespace {

using namespace gauntlet::cuda_runtime;
using gauntlet::device_wire::Command;
using gauntlet::device_wire::DeviceFacts;
using gauntlet::device_wire::Kind;

constexpr int kThreadsPerMultiprocessor = 2048;
constexpr int kBlocksPerMultiprocessor = 32;
constexpr std::size_t kSharedPerMultiprocessor = 164 << 10;
constexpr std::size_t kSharedReserved = 1 << 10;  // of each block
constexpr std::size_t kSharedPerBlock = 48 << 10;
constexpr std::size_t kSharedOptIn = 163 << 10;
constexpr int kVersion = 12000;

cudaError_t properties_of(cudaDeviceProp& all) {
  DeviceFacts facts{};
  const auto answer = ask(command(Kind::facts), {nullptr, 0, &facts, sizeof facts});
  if (answer.error != cudaSuccess) return static_cast<cudaError_t>(answer.error);
  all = {};
  std::memcpy(all.name, facts.name, sizeof facts.name);
  all.totalGlobalMem = facts.memory_bytes;
  all.major = static_cast<int>(facts.major);
  all.minor = static_cast<int>(facts.minor);
  all.multiProcessorCount = static_cast<int>(facts.multiprocessors);
  all.sharedMemPerBlock = kSharedPerBlock;
  all.sharedMemPerBlockOptin = kSharedOptIn;
  all.sharedMemPerMultiprocessor = kSharedPerMultiprocessor;
  all.reservedSharedMemPerBlock = kSharedReserved;
  all.regsPerBlock = all.regsPerMultiprocessor = 65536;
  all.warpSize = 32;
  all.memPitch = 0x7fffffff;
  all.maxThreadsPerBlock = all.maxThreadsDim[0] = all.maxThreadsDim[1] = 1024;
  all.maxThreadsDim[2] = 64;
  all.maxGridSize[0] = 0x7fffffff;
  all.maxGridSize[1] = all.maxGridSize[2] = 65535;
  all.maxThreadsPerMultiProcessor = kThreadsPerMultiprocessor;
  all.maxBlocksPerMultiProcessor = kBlocksPerMultiprocessor;
  all.totalConstMem = 65536;
  all.clockRate = 1410000;
  all.memoryClockRate = 1215000;
  all.memoryBusWidth = 5120;
  all.l2CacheSize = 40 << 20;
  all.concurrentKernels = all.unifiedAddressing = all.ECCEnabled = 1;
  all.asyncEngineCount = 3;
  return cudaSuccess;
}

cudaError_t attribute_of(cudaDeviceAttr attribute, int& value) {
  cudaDeviceProp all;
  if (const cudaError_t error = properties_of(all); error != cudaSuccess) return error;
  switch (attribute) {
#define SAME(name, field)                \
  case cudaDevAttr##name:                \
    value = static_cast<int>(all.field); \
    return cudaSuccess
    SAME(MaxThreadsPerBlock, maxThreadsPerBlock);
    SAME(MaxBlockDimX, maxThreadsDim[0]);
    SAME(MaxBlockDimY, maxThreadsDim[1]);
    SAME(MaxBlockDimZ, maxThreadsDim[2]);
    SAME(MaxGridDimX, maxGridSize[0]);
    SAME(MaxGridDimY, maxGridSize[1]);
    SAME(MaxGridDimZ, maxGridSize[2]);
    SAME(MaxSharedMemoryPerBlock, sharedMemPerBlock);
    SAME(TotalConstantMemory, totalConstMem);
    SAME(WarpSize, warpSize);
    SAME(MaxRegistersPerBlock, regsPerBlock);
    SAME(ClockRate, clockRate);
    SAME(MultiProcessorCount, multiProcessorCount);
    SAME(ConcurrentKernels, concurrentKernels);
    SAME(MemoryClockRate, memoryClockRate);
    SAME(GlobalMemoryBusWidth, memoryBusWidth);
    SAME(L2CacheSize, l2CacheSize);
    SAME(MaxThreadsPerMultiProcessor, maxThreadsPerMultiProcessor);
    SAME(UnifiedAddressing, unifiedAddressing);
    SAME(ComputeCapabilityMajor, major);
    SAME(ComputeCapabilityMinor, minor);
    SAME(MaxSharedMemoryPerMultiprocessor, sharedMemPerMultiprocessor);
    SAME(MaxRegistersPerMultiprocessor, regsPerMultiprocessor);
    SAME(ManagedMemory, managedMemory);
    SAME(CooperativeLaunch, cooperativeLaunch);
    SAME(MaxSharedMemoryPerBlockOptin, sharedMemPerBlockOptin);
    SAME(MaxBlocksPerMultiprocessor, maxBlocksPerMultiProcessor);
    SAME(ReservedSharedMemoryPerBlock, reservedSharedMemPerBlock);
#undef SAME
    case cudaDevAttrMemoryPoolsSupported:
      value = 1;
      return cudaSuccess;
  }
  return cudaErrorInvalidValue;
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  return noted(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceReset() {
  return noted(cudaErrorNotPermitted);
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = kVersion;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = kVersion;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return noted(device != 0 ? cudaErrorInvalidDevice : properties_of(*properties));
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return noted(device != 0 ? cudaErrorInvalidDevice : attribute_of(attribute, *value));
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) return cudaSuccess;
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0)
    return noted(cudaErrorInvalidValue);
  Kernel kernel;
  if (const cudaError_t error = find_kernel(function, kernel); error != cudaSuccess)
    return noted(error);
  Command asked = command(Kind::set_shared_limit);
  asked.first = kernel.number;
  asked.bytes = static_cast<std::uint64_t>(value);
  return noted(ask(asked));
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  Kernel kernel;
  if (const cudaError_t error = find_kernel(function, kernel, true); error != cudaSuccess)
    return noted(error);
  *attributes = {};
  attributes->sharedSizeBytes = kernel.facts.static_shared;
  attributes->localSizeBytes = kernel.facts.local_bytes;
  attributes->maxThreadsPerBlock = static_cast<int>(kernel.facts.most_threads);
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(kernel.facts.most_dynamic_shared);
  attributes->ptxVersion = attributes->binaryVersion = 80;
  return cudaSuccess;
}
cudaError_t cudaFuncSetCacheConfig(const void* /*function*/, cudaFuncCache /*config*/) {
  return cudaSuccess;
}

/// By threads, blocks and shared memory; registers are not known before an assembler ran.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                          int block_threads, std::size_t shared) {
  Kernel kernel;
  if (const cudaError_t error = find_kernel(function, kernel); error != cudaSuccess)
    return noted(error);
  if (block_threads <= 0) return noted(cudaErrorInvalidValue);
  *blocks = 0;
  const std::size_t of_block = kernel.facts.static_shared + shared;
  if (static_cast<std::uint32_t>(block_threads) > kernel.facts.most_threads ||
      of_block > kSharedOptIn)
    return cudaSuccess;
  const int by_threads = kThreadsPerMultiprocessor / ((block_threads + 31) / 32 * 32);
  const auto by_shared = static_cast<int>(kSharedPerMultiprocessor / (of_block + kSharedReserved));
  *blocks = std::min({kBlocksPerMultiprocessor, by_threads, by_shared});
  return cudaSuccess;
}
}
