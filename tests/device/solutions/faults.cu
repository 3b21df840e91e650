// SPDX-License-Identifier: Apache-2.0
// Programs that do what they must not. words: an input, an output, n, stream.
__global__ void copy(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
__global__ void overwrite(float* x) {
  x[threadIdx.x] = 0;
}
__global__ void add_nothing(float* y) {
  atomicAdd(y, 0.0f);
}
__global__ void last_one(unsigned* y) {
  atomicExch(y, blockIdx.x);
}
__global__ void spin(volatile float* y) {
  while (true) y[0] = 1;
}
__global__ void insist(int n) {
  if (n > 0) __trap();
}

extern "C" long sticky(unsigned long* words) {
  const auto* x = (const float*)words[0];
  auto* y = (float*)words[1];
  const int n = (int)words[2];
  // Not sticky: told once, then forgotten. What was asked before the error stands.
  copy<<<1, 2048>>>(x, y, n);
  words[100] = cudaPeekAtLastError();
  words[101] = cudaGetLastError();
  words[102] = cudaGetLastError();
  words[103] = cudaMemcpy(y, (const void*)0x1234, 4, cudaMemcpyDeviceToDevice);
  words[104] = cudaGetLastError();
  words[105] = cudaFree((void*)x);
  cudaGetLastError();
  words[106] = cudaDeviceSynchronize();
  // Sticky: seen when somebody waits, told ever after.
  copy<<<1, 32>>>(x + 8, y, n);
  words[107] = cudaGetLastError();
  words[108] = cudaDeviceSynchronize();
  words[109] = cudaGetLastError();
  words[110] = cudaGetLastError();
  void* more = nullptr;
  words[111] = cudaMalloc(&more, 4);
  return 0;
}

extern "C" long writes_input(unsigned long* words) {
  overwrite<<<1, 8>>>((float*)words[0]);
  return cudaDeviceSynchronize();
}
extern "C" long copies_into_input(unsigned long* words) {
  const float zero = 0;
  return cudaMemcpy((void*)words[0], &zero, sizeof zero, cudaMemcpyHostToDevice);
}
extern "C" long comes_last(unsigned long* words) {
  last_one<<<64, 32>>>((unsigned*)words[1]);
  return cudaDeviceSynchronize();
}
extern "C" long spins(unsigned long* words) {
  spin<<<1, 1>>>((float*)words[1]);
  return cudaDeviceSynchronize();
}
extern "C" long traps(unsigned long* words) {
  insist<<<1, 1>>>((int)words[2]);
  return cudaDeviceSynchronize();
}
extern "C" long reads_on_host(unsigned long* words) {
  return (long)*(volatile float*)words[0];
}
extern "C" long reads_host_memory(unsigned long* words) {
  float here[64] = {};
  copy<<<1, 64>>>(here, (float*)words[1], 64);
  return cudaDeviceSynchronize();
}

/// The caller's stream is not used, and nothing orders the one that is.
extern "C" long other_stream(unsigned long* words) {
  cudaStream_t own;
  cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  copy<<<1, 32, 0, own>>>((const float*)words[0], (float*)words[1], (int)words[2]);
  words[100] = cudaStreamQuery((cudaStream_t)words[3]);
  return 0;
}
/// The default stream waits for streams that are not non-blocking, and they for it.
extern "C" long default_stream(unsigned long* words) {
  const auto* x = (const float*)words[0];
  auto* y = (float*)words[1];
  cudaStream_t blocking, non_blocking;
  cudaStreamCreate(&blocking);
  cudaStreamCreateWithFlags(&non_blocking, cudaStreamNonBlocking);
  float *first, *second;
  cudaMalloc(&first, 32);
  cudaMalloc(&second, 32);
  copy<<<1, 8, 0, blocking>>>(x, first, 8);
  copy<<<1, 4>>>(first, y, 4);
  words[100] = cudaStreamSynchronize(0);
  copy<<<1, 8>>>(x, second, 8);
  copy<<<1, 4, 0, blocking>>>(second + 4, y + 4, 4);
  copy<<<1, 8, 0, non_blocking>>>(x, second, 8);
  words[101] = cudaStreamSynchronize(blocking);
  cudaStreamSynchronize(cudaStreamLegacy);
  words[102] = cudaStreamQuery(non_blocking);
  words[103] = cudaStreamDestroy(blocking);
  words[104] = cudaStreamSynchronize(blocking);
  return cudaGetLastError();
}
/// Work on a stream that is gone is still done.
extern "C" long gone_stream(unsigned long* words) {
  cudaStream_t own;
  cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  copy<<<1, 8, 0, own>>>((const float*)words[0], (float*)words[1], 8);
  cudaStreamDestroy(own);
  return cudaDeviceSynchronize();
}
/// Kernels that wait for a stream are executed with memory that was freed in its turn.
extern "C" long frees_in_turn(unsigned long* words) {
  float* scratch;
  cudaMallocAsync(&scratch, 32, 0);
  copy<<<1, 8>>>((const float*)words[0], scratch, 8);
  copy<<<1, 8>>>(scratch, (float*)words[1], 8);
  cudaFreeAsync(scratch, 0);
  words[100] = cudaDeviceSynchronize();
  copy<<<1, 8>>>(scratch, (float*)words[1], 8);
  return cudaDeviceSynchronize();
}

/// Asked often enough, an event comes.
extern "C" long polls(unsigned long* words) {
  cudaEvent_t event;
  cudaEventCreate(&event);
  for (int n = 0; n < 3; ++n)
    copy<<<1, 32, 0, (cudaStream_t)words[3]>>>((const float*)words[0], (float*)words[1],
                                               (int)words[2]);
  cudaEventRecord(event, (cudaStream_t)words[3]);
  long times = 0;
  while (cudaEventQuery(event) == cudaErrorNotReady) ++times;
  return times;
}

/// The answer is computed here; a kernel of no account writes a part of it.
extern "C" long on_the_host(unsigned long* words) {
  float x[8];
  cudaMemcpy(x, (const void*)words[0], sizeof x, cudaMemcpyDeviceToHost);
  float* through = nullptr;
  cudaMalloc(&through, sizeof x);
  cudaMemcpy(through, x, sizeof x, cudaMemcpyHostToDevice);
  cudaMemcpy((void*)words[1], through, sizeof x, cudaMemcpyDeviceToDevice);
  copy<<<1, 2>>>((const float*)words[0], (float*)words[1], 2);
  add_nothing<<<1, 1>>>((float*)words[1] + 2);
  return cudaDeviceSynchronize();
}

struct AtLoad {
  AtLoad() : error(cudaMalloc(&memory, 4)) {}
  void* memory;
  cudaError_t error;
};
static AtLoad at_load;
extern "C" long before_main(unsigned long*) {
  return at_load.error;
}
