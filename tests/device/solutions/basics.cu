// SPDX-License-Identifier: Apache-2.0
// One of each: a template kernel, a struct by value, dynamic shared memory, a symbol, a stream and
// an event. words: a, b, sum, n, stream, total.
#include <cstdio>
#include <vector>

struct Scales {
  char unused;
  double first;
  float second[3];
};

__constant__ float offset[2];
__device__ int calls;

template <class T>
__global__ void add(const T* a, const T* b, T* sum, int n, Scales scales) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) atomicAdd(&calls, 1);
  if (i < n) sum[i] = T(scales.first) * a[i] + scales.second[2] * b[i] + offset[1];
}

__global__ void reduce(const float* x, int n, float* total) {
  extern __shared__ float own[];
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += x[i];
  own[threadIdx.x] = sum;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) own[threadIdx.x] += own[threadIdx.x + half];
  }
  if (threadIdx.x == 0) {
    *total = own[0];
    printf("total of %d\n", n);
  }
}

extern "C" long run(unsigned long* words) {
  const auto* a = (const float*)words[0];
  const auto* b = (const float*)words[1];
  auto* sum = (float*)words[2];
  const int n = (int)words[3];
  const auto stream = (cudaStream_t)words[4];
  auto* total = (float*)words[5];

  const float two[2] = {1, 0.5f};
  if (cudaMemcpyToSymbol(offset, two, sizeof two) != cudaSuccess) return 1;
  float* scratch = nullptr;
  if (cudaMallocAsync(&scratch, n * sizeof(float), stream) != cudaSuccess) return 2;
  add<float><<<(n + 127) / 128, 128, 0, stream>>>(a, b, scratch, n, Scales{1, 2, {0, 0, 3}});
  cudaEvent_t added;
  cudaStream_t other;
  cudaEventCreateWithFlags(&added, cudaEventDisableTiming);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaEventRecord(added, stream);
  cudaStreamWaitEvent(other, added, 0);
  cudaMemcpyAsync(sum, scratch, n * sizeof(float), cudaMemcpyDeviceToDevice, other);
  cudaEventRecord(added, other);
  cudaStreamWaitEvent(stream, added);
  // More than 48 KiB of shared memory are had by asking.
  const int shared = 64 << 10;
  reduce<<<1, 256, shared, stream>>>(sum, n, total);
  if (cudaGetLastError() != cudaErrorInvalidValue) return 3;
  cudaFuncSetAttribute(reduce, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
  reduce<<<1, 256, shared, stream>>>(sum, n, total);
  cudaFreeAsync(scratch, stream);
  if (cudaGetLastError() != cudaSuccess) return 4;
  if (cudaStreamSynchronize(stream) != cudaSuccess) return 5;
  int count = 0;
  cudaMemcpyFromSymbol(&count, calls, sizeof count);
  words[100] = count;

  int blocks = 0, attribute = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reduce, 256, shared);
  cudaDeviceGetAttribute(&attribute, cudaDevAttrComputeCapabilityMajor, 0);
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  words[101] = blocks;
  words[102] = attribute;
  words[103] = properties.sharedMemPerBlockOptin;
  cudaStreamDestroy(other);
  cudaEventDestroy(added);
  return 0;
}

/// Rows of 3 out of rows of 5, by a pitch; and a launch without the three brackets.
extern "C" long rows(unsigned long* words) {
  std::vector<float> in(20);
  for (int i = 0; i < 20; ++i) in[i] = i;
  float *a = nullptr, *out = (float*)words[2];
  if (cudaMalloc(&a, 12 * sizeof(float)) != cudaSuccess) return 1;
  if (cudaMemcpy2D(a, 12, in.data(), 20, 12, 4, cudaMemcpyHostToDevice) != cudaSuccess) return 2;
  int n = 12;
  Scales scales{0, 1, {0, 0, 0}};
  void* arguments[] = {&a, &a, &out, &n, &scales};
  if (cudaLaunchKernel(add<float>, dim3(1), dim3(32), arguments) != cudaSuccess) return 3;
  return cudaFree(a);
}
