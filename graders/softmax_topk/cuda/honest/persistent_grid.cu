// strategy: as many blocks as run at once draw parts of rows; a radix selection for each tile of a
// part, and the block that comes last to a row joins its parts
// uses: sums may be taken in any order, so that lse and probs differ within ACCURACY
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "common.cuh"

namespace {

constexpr int kThreads = 256;
constexpr int kTile = 2048;
constexpr int kMostColumns = 1024;
constexpr int64_t kPart = 16 * kTile;  // entries
constexpr int64_t kFew = 64;  // entries that are not worth a selection before they are ranked

struct Work {
  int64_t parts;              // of a row
  unsigned long long* drawn;  // units, a unit being a part of a row
  int* done;                  // [rows], parts
  float* max;                 // [rows][parts]
  double* sum;
  Key* keys;  // [rows][parts][columns]
};

/// What a block has in shared memory: the best so far, and behind them what may be better.
struct Pool {
  Key keys[kMostColumns + kTile];
  Key least;  // of as many as are wanted: what is not above it does not come in
  int digits[256];
  int digit, missing;
  int count;  // of keys
};

/// By one thread: the digit of the key that is `missing` places from the top, and how many places
/// are left among those that begin with it.
__device__ void find_digit(Pool& pool) {
  int digit = 255;
  for (; pool.digits[digit] < pool.missing; --digit) pool.missing -= pool.digits[digit];
  pool.digit = digit;
}

/// The `wanted` best of the keys move to the front, in any order. The least of them is found digit
/// by digit.
__device__ void choose(Pool& pool, int wanted) {
  __syncthreads();
  const int count = pool.count;
  if (count <= wanted) return;
  Key least = 0;
  if (threadIdx.x == 0) pool.missing = wanted;
  for (int shift = 56; shift >= 0; shift -= 8) {
    pool.digits[threadIdx.x] = 0;
    __syncthreads();
    for (int n = threadIdx.x; n < count; n += kThreads)
      if (shift == 56 || (pool.keys[n] ^ least) >> (shift + 8) == 0)
        atomicAdd(&pool.digits[pool.keys[n] >> shift & 0xff], 1);
    __syncthreads();
    if (threadIdx.x == 0) find_digit(pool);
    __syncthreads();
    least |= static_cast<Key>(pool.digit) << shift;
  }
  Key kept[(kMostColumns + kTile) / kThreads];
  for (int n = threadIdx.x, mine = 0; n < count; n += kThreads, ++mine) kept[mine] = pool.keys[n];
  __syncthreads();
  if (threadIdx.x == 0) {
    pool.count = 0;
    pool.least = least;
  }
  __syncthreads();
  for (int n = threadIdx.x, mine = 0; n < count; n += kThreads, ++mine)
    if (kept[mine] >= least) pool.keys[atomicAdd(&pool.count, 1)] = kept[mine];
  __syncthreads();
}

/// Offers `left` keys, or the first kTile of them: next(0), next(1), ...; 0 is none.
template <class Next>
__device__ void add_tile(Pool& pool, int wanted, int64_t left, Next next) {
  for (int n = threadIdx.x; n < kTile && n < left; n += kThreads)
    if (const Key key = next(n); key > pool.least) pool.keys[atomicAdd(&pool.count, 1)] = key;
  __syncthreads();
  const bool is_full = pool.count > kMostColumns;
  __syncthreads();
  if (is_full) choose(pool, wanted);
}

__device__ void clear(Pool& pool) {
  __syncthreads();
  if (threadIdx.x == 0) {
    pool.count = 0;
    pool.least = 0;
  }
  __syncthreads();
}

/// A sum of all threads, in the order of their numbers.
__device__ Softmax merged_in_block(Softmax mine, float scale) {
  __shared__ float maxima[kThreads / 32];
  __shared__ double sums[kThreads / 32];
  mine = merged_in_warp(mine, scale);
  if (threadIdx.x % 32 == 0) {
    maxima[threadIdx.x / 32] = mine.max;
    sums[threadIdx.x / 32] = mine.sum;
  }
  __syncthreads();
  Softmax all;
  for (int warp = 0; warp < kThreads / 32; ++warp) all.merge({maxima[warp], sums[warp]}, scale);
  return all;
}

__device__ Softmax read_part(const SoftmaxTopkArgs& args, const Window& window, int64_t row,
                             int64_t begin, int64_t end, Pool& pool) {
  const float* z = row_of(args, row);
  const Key bound = bound_of(args, row, window);
  Softmax softmax;
  clear(pool);
  for (int64_t tile = begin; tile < end; tile += kTile)
    add_tile(pool, window.columns, end - tile, [&](int n) -> Key {
      const int64_t at = tile + n;
      softmax.add(z[at], args.scale);
      const Key key = key_of(z[at], at);
      return key < bound ? key : 0;
    });
  if (end - begin > kFew) choose(pool, window.columns);
  return merged_in_block(softmax, args.scale);
}

/// A key's column is the number of keys before it. What comes behind the last column is left out.
__device__ void write_row(const SoftmaxTopkArgs& args, const Window& window, int64_t row,
                          const Softmax& softmax, const Pool& pool) {
  const int count = pool.count;
  for (int n = threadIdx.x; n < max(count, window.columns); n += kThreads) {
    int column = n;
    if (n < count) {
      column = 0;
      for (int other = 0; other < count; ++other) column += pool.keys[other] > pool.keys[n];
    }
    if (column < window.columns)
      write_winner(args, row, window.first + column, n < count ? pool.keys[n] : 0, softmax);
  }
  if (threadIdx.x == 0 && window.first == 0) softmax.write_totals(args, row);
}

__device__ void keep_part(const Work& work, const Window& window, int64_t unit,
                          const Softmax& softmax, Pool& pool) {
  choose(pool, window.columns);
  for (int n = threadIdx.x; n < window.columns; n += kThreads)
    work.keys[unit * window.columns + n] = n < pool.count ? pool.keys[n] : 0;
  if (threadIdx.x > 0) return;
  work.max[unit] = softmax.max;
  work.sum[unit] = softmax.sum;
}

__device__ void join_row(const SoftmaxTopkArgs& args, const Window& window, const Work& work,
                         int64_t row, Pool& pool) {
  const Key* keys = work.keys + row * work.parts * window.columns;
  const int64_t count = work.parts * window.columns;
  clear(pool);
  for (int64_t tile = 0; tile < count; tile += kTile)
    add_tile(pool, window.columns, count - tile, [&](int n) { return keys[tile + n]; });
  choose(pool, window.columns);
  Softmax softmax;
  for (int64_t part = 0; part < work.parts; ++part)
    softmax.merge({work.max[row * work.parts + part], work.sum[row * work.parts + part]},
                  args.scale);
  write_row(args, window, row, softmax, pool);
}

/// Whether this block is the last one of the row: it sees then what the others have written.
__device__ bool comes_last(const Work& work, int64_t row) {
  __shared__ bool is_last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(&work.done[row], 1) == work.parts - 1;
  __syncthreads();
  __threadfence();
  return is_last;
}

__global__ void __launch_bounds__(kThreads)
    persistent(SoftmaxTopkArgs args, Window window, Work work) {
  __shared__ Pool pool;
  __shared__ unsigned long long drawn;
  while (true) {
    __syncthreads();
    if (threadIdx.x == 0) drawn = atomicAdd(work.drawn, 1ull);
    __syncthreads();
    const auto unit = static_cast<int64_t>(drawn);
    if (unit >= args.rows * work.parts) return;
    const int64_t row = unit / work.parts, part = unit % work.parts;
    const int64_t length = length_of(args, row);
    const int64_t begin = part * kPart;
    const int64_t end = begin + kPart < length ? begin + kPart : length;
    const Softmax softmax = read_part(args, window, row, begin, end, pool);
    if (work.parts == 1) {
      write_row(args, window, row, softmax, pool);
      continue;
    }
    keep_part(work, window, unit, softmax, pool);
    if (comes_last(work, row)) join_row(args, window, work, row, pool);
  }
}

/// Scratch memory in pieces of one allocation, none of them needed where rows have one part.
struct Scratch {
  char* memory = nullptr;
  size_t bytes = 0;

  size_t add(size_t more) {
    const size_t at = bytes;
    bytes += (more + 15) / 16 * 16;
    return at;
  }
  template <class T>
  T* at(size_t offset) const {
    return reinterpret_cast<T*>(memory + offset);
  }
};

cudaError_t run(const SoftmaxTopkArgs& args, const Window& window, int multiprocessors) {
  const auto stream = static_cast<cudaStream_t>(args.stream);
  const int64_t parts = (args.vocab + kPart - 1) / kPart;
  const auto units = static_cast<size_t>(parts == 1 ? 0 : args.rows * parts);
  Scratch scratch;
  const size_t drawn = scratch.add(sizeof(unsigned long long));
  const size_t done = scratch.add(parts == 1 ? 0 : static_cast<size_t>(args.rows) * sizeof(int));
  const size_t zeroed = scratch.bytes;
  const size_t max = scratch.add(units * sizeof(float));
  const size_t sum = scratch.add(units * sizeof(double));
  const size_t keys = scratch.add(units * static_cast<size_t>(window.columns) * sizeof(Key));
  cudaError_t error = cudaMallocAsync(&scratch.memory, scratch.bytes, stream);
  if (error != cudaSuccess) return error;
  error = cudaMemsetAsync(scratch.memory, 0, zeroed, stream);
  const Work work{parts,
                  scratch.at<unsigned long long>(drawn),
                  scratch.at<int>(done),
                  scratch.at<float>(max),
                  scratch.at<double>(sum),
                  scratch.at<Key>(keys)};
  const auto blocks =
      static_cast<unsigned>(std::min<int64_t>(args.rows * parts, 4 * multiprocessors));
  if (error == cudaSuccess) {
    persistent<<<blocks, kThreads, 0, stream>>>(args, window, work);
    error = cudaGetLastError();
  }
  const cudaError_t freed = cudaFreeAsync(scratch.memory, stream);
  return error == cudaSuccess ? freed : error;
}

}  // namespace

extern "C" int64_t softmax_topk(const SoftmaxTopkArgs* args) {
  if (const int64_t status = refusal(*args); status != SOFTMAX_TOPK_OK) return status;
  if (args->rows == 0) return SOFTMAX_TOPK_OK;
  int device = 0, multiprocessors = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  for (int64_t first = 0; first < args->k && error == cudaSuccess; first += kMostColumns)
    error = run(*args, {first, static_cast<int>(std::min<int64_t>(kMostColumns, args->k - first))},
                multiprocessors);
  return error;
}
