// SPDX-License-Identifier: Apache-2.0
// One fault in each kernel, in the line that its name stands behind. Launched with a warp or two a
// block; data holds 64 words, n is 64.
using Words = unsigned;

__global__ void global_past_the_end(Words* data, unsigned n) {
  data[threadIdx.x] = data[n - 32 + threadIdx.x + 1];  // global_past_the_end
}

__global__ void global_before_the_begin(Words* data, unsigned n) {
  data[threadIdx.x - n] = 1;  // global_before_the_begin
}

__global__ void shared_past_the_end(Words* data, unsigned n) {
  __shared__ Words tile[64];
  tile[threadIdx.x] = tile[threadIdx.x + 32] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = tile[threadIdx.x + n - 16];  // shared_past_the_end
}

__global__ void local_past_the_end(Words* data, unsigned n) {
  volatile Words mine[8];
  for (int i = 0; i < 8; ++i) mine[i] = i;
  data[threadIdx.x] = mine[n / 8];  // local_past_the_end
}

__global__ void misaligned(Words* data, unsigned n) {
  const auto* pairs = reinterpret_cast<const unsigned long long*>(data + 1);
  if (threadIdx.x < n / 4) data[threadIdx.x] = pairs[threadIdx.x];  // misaligned
}

__global__ void use_after_free(Words* data, unsigned n) {
  data[threadIdx.x] = n;  // use_after_free
}

__global__ void host_pointer(Words* data, unsigned n) {
  data[threadIdx.x] = n;  // host_pointer
}

__global__ void undefined_global(Words* data, unsigned n) {
  if (threadIdx.x < 16) data[threadIdx.x] = n;
  __syncthreads();
  data[threadIdx.x] += 1;  // undefined_global
}

__global__ void undefined_shared(Words* data, unsigned n) {
  __shared__ Words tile[64];
  if (threadIdx.x > 0) tile[threadIdx.x] = n;
  __syncthreads();
  data[threadIdx.x] = tile[threadIdx.x ^ 1];  // undefined_shared
}

__global__ void divergent_barrier(Words* data, unsigned n) {
  if (threadIdx.x < 16) {
    data[threadIdx.x] = n;
    __syncthreads();
    data[threadIdx.x] += 1;
  } else {
    data[threadIdx.x] = n + 1;
    __syncthreads();  // divergent_barrier
  }
}

__global__ void wrong_member_mask(Words* data, unsigned n) {
  if (threadIdx.x < 16)
    data[threadIdx.x] =
        __shfl_xor_sync(0xffffffffu, data[threadIdx.x] + n, 1);  // wrong_member_mask
  else
    data[threadIdx.x] = n;
  __syncwarp();
  data[threadIdx.x] += 1;
}

__global__ void shared_race(Words* data, unsigned n) {
  __shared__ Words tile[64];
  tile[threadIdx.x] = data[threadIdx.x];
  data[threadIdx.x] = tile[n - 1 - threadIdx.x];  // shared_race
}

__global__ void missing_syncwarp(Words* data, unsigned) {
  __shared__ Words tile[32];
  tile[threadIdx.x] = data[threadIdx.x];
  data[threadIdx.x] = tile[31 - threadIdx.x];  // missing_syncwarp
}

__global__ void race_between_blocks(Words* data, unsigned n) {
  if (threadIdx.x == 0) data[n - 1] += blockIdx.x;  // race_between_blocks
}

__global__ void endless_loop(volatile Words* data, unsigned n) {
  while (data[0] != n + 1) data[1] = n;  // endless_loop
}
