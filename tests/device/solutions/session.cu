// SPDX-License-Identifier: Apache-2.0
// What a solution may do in a session, right and wrong: each function is one call.
#include "contract.h"

#include <cstdlib>

namespace {

cudaStream_t stream_of(const DeviceTestArgs* args) {
  return static_cast<cudaStream_t>(args->stream);
}

int blocks_for(int64_t n) {
  return static_cast<int>((n + 127) / 128);
}

__device__ int calls_on_device;
int calls_on_host;

__global__ void twice(const float* x, float* y, int64_t n) {
  const int64_t i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
__global__ void add(const float* x, float* y, int64_t n) {
  const int64_t i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) y[i] += x[i];
}
__global__ void one_too_far(const float* x, float* y, int64_t n) {
  if (threadIdx.x <= n) y[threadIdx.x] = x[threadIdx.x % n];
}
__global__ void overwrite(float* x) {
  x[threadIdx.x] = 0;
}
__global__ void spin(volatile float* y) {
  while (true) y[0] = 1;
}
__global__ void all_at_once(float* y) {
  y[0] = static_cast<float>(threadIdx.x);
}
__global__ void count(float* y) {
  y[0] = static_cast<float>(++calls_on_device);
}

}  // namespace

extern "C" int64_t scale(const DeviceTestArgs* args) {
  twice<<<blocks_for(args->n), 128, 0, stream_of(args)>>>(args->x, args->y, args->n);
  return cudaGetLastError();
}
/// Two parts that lie 2^32 + 8 elements apart.
extern "C" int64_t scale_parts(const DeviceTestArgs* args) {
  const int64_t apart = (int64_t{1} << 32) + 8;
  for (int64_t part = 0; part < 2; ++part)
    twice<<<blocks_for(args->n), 128, 0, stream_of(args)>>>(args->x + part * apart,
                                                            args->y + part * apart, args->n);
  return cudaGetLastError();
}
/// The same with offsets of 32 bits.
extern "C" int64_t scale_near_parts(const DeviceTestArgs* args) {
  const unsigned apart = 1u << 31;
  for (unsigned part = 0; part < 3; ++part)
    twice<<<blocks_for(args->n), 128, 0, stream_of(args)>>>(args->x + part * apart + part,
                                                            args->y, args->n);
  return cudaGetLastError();
}
extern "C" int64_t accumulate(const DeviceTestArgs* args) {
  add<<<blocks_for(args->n), 128, 0, stream_of(args)>>>(args->x, args->y, args->n);
  return cudaGetLastError();
}
/// What the struct says: device, which pointers are null, and where x lies in its 4096 bytes.
extern "C" int64_t describe(const DeviceTestArgs* args) {
  const auto place = reinterpret_cast<uint64_t>(args->x) % 4096;
  return static_cast<int64_t>(place * 1000) + args->device * 100 + (args->stream == nullptr) * 10 +
         (args->z == nullptr);
}
extern "C" int64_t writes_past_the_end(const DeviceTestArgs* args) {
  one_too_far<<<1, 128, 0, stream_of(args)>>>(args->x, args->y, args->n);
  return 0;
}
extern "C" int64_t writes_its_input(const DeviceTestArgs* args) {
  overwrite<<<1, 1, 0, stream_of(args)>>>(const_cast<float*>(args->x));
  return 0;
}
extern "C" int64_t computes_on_the_host(const DeviceTestArgs* args) {
  auto* const host = static_cast<float*>(std::malloc(args->n * sizeof(float)));
  cudaMemcpy(host, args->x, args->n * sizeof(float), cudaMemcpyDeviceToHost);
  for (int64_t i = 0; i < args->n; ++i) host[i] *= 2;
  cudaMemcpy(args->y, host, args->n * sizeof(float), cudaMemcpyHostToDevice);
  std::free(host);
  return 0;
}
extern "C" int64_t reads_on_the_host(const DeviceTestArgs* args) {
  return static_cast<int64_t>(*static_cast<const volatile float*>(args->x));
}
extern "C" int64_t gives_up_on_errors(const DeviceTestArgs* args) {
  one_too_far<<<1, 128, 0, stream_of(args)>>>(args->x, args->y, args->n);
  if (cudaStreamSynchronize(stream_of(args)) != cudaSuccess) std::abort();
  return 0;
}
extern "C" int64_t hangs(const DeviceTestArgs*) {
  while (true) *const_cast<volatile int*>(&calls_on_host) = 1;
}
extern "C" int64_t hangs_in_a_kernel(const DeviceTestArgs* args) {
  spin<<<1, 1, 0, stream_of(args)>>>(args->y);
  return 0;
}
extern "C" int64_t races(const DeviceTestArgs* args) {
  all_at_once<<<1, 64, 0, stream_of(args)>>>(args->y);
  return 0;
}
/// How often it was called, by the host's count and in y by the device's.
extern "C" int64_t counts(const DeviceTestArgs* args) {
  count<<<1, 1, 0, stream_of(args)>>>(args->y);
  return ++calls_on_host;
}
/// The first step is in the default stream, the second in the caller's.
extern "C" int64_t relies_on_the_default_stream(const DeviceTestArgs* args) {
  twice<<<blocks_for(args->n), 128>>>(args->x, args->z, args->n);
  cudaMemcpyAsync(args->y, args->z, args->n * sizeof(float), cudaMemcpyDeviceToDevice,
                  stream_of(args));
  return 0;
}
/// Nobody is told that it works in the default stream.
extern "C" int64_t ignores_the_stream(const DeviceTestArgs* args) {
  twice<<<blocks_for(args->n), 128>>>(args->x, args->y, args->n);
  return 0;
}
/// At most 3 KiB at once, and one of them stays.
extern "C" int64_t allocates(const DeviceTestArgs*) {
  void *first = nullptr, *second = nullptr;
  cudaMalloc(&first, 2048);
  cudaMalloc(&second, 1024);
  cudaFree(first);
  return 0;
}
/// Nothing is left but less than a KiB.
extern "C" int64_t keeps_all_memory(const DeviceTestArgs*) {
  for (size_t bytes = size_t{1} << 30; bytes >= 1024;) {
    void* kept = nullptr;
    if (cudaMalloc(&kept, bytes) != cudaSuccess) bytes /= 2;
  }
  cudaGetLastError();
  return 0;
}
extern "C" int64_t takes_all_streams(const DeviceTestArgs*) {
  cudaStream_t stream;
  while (cudaStreamCreate(&stream) == cudaSuccess) continue;
  cudaGetLastError();
  return 0;
}
extern "C" int64_t destroys_the_stream(const DeviceTestArgs* args) {
  twice<<<blocks_for(args->n), 128, 0, stream_of(args)>>>(args->x, args->y, args->n);
  cudaStreamDestroy(stream_of(args));
  return 0;
}
