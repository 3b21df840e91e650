// SPDX-License-Identifier: Apache-2.0
// The host's side of the CUDA runtime, as far as harness/device/runtime has it: names, numbers and
// meaning are those of the CUDA Runtime API. What is not declared here is outside the feature set.
#pragma once

#include <stddef.h>
#ifdef __CUDA__
#include <vector_types.h>
#define SIMT_DEFAULT(value) = value
#else
struct dim3 {
  unsigned int x, y, z;
};
#define SIMT_DEFAULT(value)
#endif

enum cudaError {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInitializationError = 3,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInvalidPitchValue = 12,
  cudaErrorInvalidSymbol = 13,
  cudaErrorInvalidDevicePointer = 17,
  cudaErrorInvalidMemcpyDirection = 21,
  cudaErrorInvalidDeviceFunction = 98,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchOutOfResources = 701,
  cudaErrorLaunchTimeout = 702,
  cudaErrorAssert = 710,
  cudaErrorMisalignedAddress = 716,
  cudaErrorLaunchFailure = 719,
  cudaErrorNotPermitted = 800,
  cudaErrorNotSupported = 801,
  cudaErrorUnknown = 999
};
using cudaError_t = cudaError;

enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4
};

using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;
#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)
#define cudaStreamDefault 0x00
#define cudaStreamNonBlocking 0x01
#define cudaEventDefault 0x00
#define cudaEventBlockingSync 0x01
#define cudaEventDisableTiming 0x02
#define cudaHostAllocDefault 0x00
#define cudaHostAllocPortable 0x01
#define cudaHostAllocWriteCombined 0x04

struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;  // without cudaFuncAttributeMaxDynamicSharedMemorySize
  int regsPerBlock;
  int warpSize;
  size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int clockRate;
  size_t totalConstMem;
  int major;
  int minor;
  int multiProcessorCount;
  int integrated;
  int canMapHostMemory;
  int concurrentKernels;
  int ECCEnabled;
  int asyncEngineCount;
  int unifiedAddressing;
  int memoryClockRate;
  int memoryBusWidth;
  int l2CacheSize;
  int maxThreadsPerMultiProcessor;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor;
  int managedMemory;
  int cooperativeLaunch;
  size_t sharedMemPerBlockOptin;
  int maxBlocksPerMultiProcessor;
  size_t reservedSharedMemPerBlock;
};

enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxBlockDimX = 2,
  cudaDevAttrMaxBlockDimY = 3,
  cudaDevAttrMaxBlockDimZ = 4,
  cudaDevAttrMaxGridDimX = 5,
  cudaDevAttrMaxGridDimY = 6,
  cudaDevAttrMaxGridDimZ = 7,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrTotalConstantMemory = 9,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMaxRegistersPerBlock = 12,
  cudaDevAttrClockRate = 13,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrConcurrentKernels = 31,
  cudaDevAttrMemoryClockRate = 36,
  cudaDevAttrGlobalMemoryBusWidth = 37,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrUnifiedAddressing = 41,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrMaxRegistersPerMultiprocessor = 82,
  cudaDevAttrManagedMemory = 83,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrMaxBlocksPerMultiprocessor = 106,
  cudaDevAttrReservedSharedMemoryPerBlock = 111,
  cudaDevAttrMemoryPoolsSupported = 115
};

struct cudaFuncAttributes {
  size_t sharedSizeBytes;
  size_t constSizeBytes;
  size_t localSizeBytes;
  int maxThreadsPerBlock;
  int numRegs;  // 0: PTX has no registers yet
  int ptxVersion;
  int binaryVersion;
  int cacheModeCA;
  int maxDynamicSharedSizeBytes;
  int preferredShmemCarveout;
};
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
enum cudaFuncCache {
  cudaFuncCachePreferNone = 0,
  cudaFuncCachePreferShared = 1,
  cudaFuncCachePreferL1 = 2,
  cudaFuncCachePreferEqual = 3
};

extern "C" {
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, enum cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);  // not permitted: inputs of the caller lie there
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaDriverGetVersion(int* version);

cudaError_t cudaMalloc(void** pointer, size_t bytes);
cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream);
cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height);
cudaError_t cudaFree(void* pointer);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
cudaError_t cudaMallocHost(void** pointer, size_t bytes);
cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned int flags);
cudaError_t cudaFreeHost(void* pointer);
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes);

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream SIMT_DEFAULT(0));
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream SIMT_DEFAULT(0));
cudaError_t cudaMemset(void* to, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream SIMT_DEFAULT(0));
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes,
                               size_t offset SIMT_DEFAULT(0),
                               enum cudaMemcpyKind kind SIMT_DEFAULT(cudaMemcpyHostToDevice));
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes,
                                 size_t offset SIMT_DEFAULT(0),
                                 enum cudaMemcpyKind kind SIMT_DEFAULT(cudaMemcpyDeviceToHost));
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes,
                                    size_t offset, enum cudaMemcpyKind kind,
                                    cudaStream_t stream SIMT_DEFAULT(0));
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset,
                                      enum cudaMemcpyKind kind,
                                      cudaStream_t stream SIMT_DEFAULT(0));
cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol);
cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol);

cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned int flags SIMT_DEFAULT(0));
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream SIMT_DEFAULT(0));
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);

cudaError_t cudaLaunchKernel(const void* kernel, struct dim3 grid, struct dim3 block,
                             void** arguments, size_t shared, cudaStream_t stream);
cudaError_t cudaFuncSetAttribute(const void* kernel, enum cudaFuncAttribute attribute, int value);
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes* attributes, const void* kernel);
cudaError_t cudaFuncSetCacheConfig(const void* kernel, enum cudaFuncCache config);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel,
                                                          int block_threads, size_t shared);

// What clang makes of kernel<<<grid, block, shared, stream>>>(...).
// NOLINTBEGIN(bugprone-reserved-identifier)
unsigned int __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block,
                                         size_t shared SIMT_DEFAULT(0),
                                         void* stream SIMT_DEFAULT(0));
cudaError_t __cudaPopCallConfiguration(struct dim3* grid, struct dim3* block, size_t* shared,
                                       void* stream);
// NOLINTEND(bugprone-reserved-identifier)
}

#ifdef __CUDA__
// The forms that take kernels, variables and pointers as what they are.
template <class T>
cudaError_t cudaMalloc(T** pointer, size_t bytes) {
  return cudaMalloc((void**)(void*)pointer, bytes);
}
template <class T>
cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaStream_t stream) {
  return cudaMallocAsync((void**)(void*)pointer, bytes, stream);
}
template <class T>
cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height) {
  return cudaMallocPitch((void**)(void*)pointer, pitch, width, height);
}
template <class T>
cudaError_t cudaMallocHost(T** pointer, size_t bytes, unsigned int flags = 0) {
  return cudaHostAlloc((void**)(void*)pointer, bytes, flags);
}
template <class T>
cudaError_t cudaHostAlloc(T** pointer, size_t bytes, unsigned int flags) {
  return cudaHostAlloc((void**)(void*)pointer, bytes, flags);
}
template <class T>
cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return cudaMemcpyToSymbol((const void*)&symbol, from, bytes, offset, kind);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return cudaMemcpyFromSymbol(to, (const void*)&symbol, bytes, offset, kind);
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t bytes, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream = 0) {
  return cudaMemcpyToSymbolAsync((const void*)&symbol, from, bytes, offset, kind, stream);
}
template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t bytes, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream = 0) {
  return cudaMemcpyFromSymbolAsync(to, (const void*)&symbol, bytes, offset, kind, stream);
}
template <class T>
cudaError_t cudaGetSymbolAddress(void** pointer, const T& symbol) {
  return cudaGetSymbolAddress(pointer, (const void*)&symbol);
}
template <class T>
cudaError_t cudaGetSymbolSize(size_t* bytes, const T& symbol) {
  return cudaGetSymbolSize(bytes, (const void*)&symbol);
}
template <class F>
cudaError_t cudaLaunchKernel(F* kernel, dim3 grid, dim3 block, void** arguments, size_t shared = 0,
                             cudaStream_t stream = 0) {
  return cudaLaunchKernel((const void*)kernel, grid, block, arguments, shared, stream);
}
template <class F>
cudaError_t cudaFuncSetAttribute(F* kernel, cudaFuncAttribute attribute, int value) {
  return cudaFuncSetAttribute((const void*)kernel, attribute, value);
}
template <class F>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, F* kernel) {
  return cudaFuncGetAttributes(attributes, (const void*)kernel);
}
template <class F>
cudaError_t cudaFuncSetCacheConfig(F* kernel, cudaFuncCache config) {
  return cudaFuncSetCacheConfig((const void*)kernel, config);
}
template <class F>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, F* kernel, int block_threads,
                                                          size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void*)kernel, block_threads,
                                                       shared);
}
template <class F>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, F* kernel, size_t shared = 0,
                                               int limit = 0) {
  cudaFuncAttributes facts;
  cudaError_t error = cudaFuncGetAttributes(&facts, kernel);
  int multiprocessors = 0, most = 0;
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  if (limit <= 0 || limit > facts.maxThreadsPerBlock) limit = facts.maxThreadsPerBlock;
  for (int threads = limit / 32 * 32; error == cudaSuccess && threads > 0; threads -= 32) {
    int blocks = 0;
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared);
    if (blocks * threads <= most) continue;
    most = blocks * threads;
    *block = threads;
    *grid = blocks * multiprocessors;
  }
  return error;
}
#endif
#undef SIMT_DEFAULT
