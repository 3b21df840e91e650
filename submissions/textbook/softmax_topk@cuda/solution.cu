// Softmax and top-k of every row in one sweep by a block of threads: each thread keeps a running
// maximum and a running sum of exponentials ("online softmax"), and what beats the k-th best entry
// so far is collected in shared memory, which is sorted whenever it is full.
#include <cmath>
#include <cstdint>

#include "contract.h"

namespace {

constexpr int kThreads = 256;
constexpr int kMostWinners = 1024;  // that a launch finds
constexpr int kRoom = 2048;         // for these and further candidates

using Candidate = unsigned long long;  // the larger one comes first; 0 is none

// The bits of a float in its order, and below them the index, the lower of which comes first.
__device__ Candidate candidate(float logit, int64_t index) {
  if (isnan(logit)) logit = -INFINITY;  // NaN has no place in the order; as -inf it gets one
  if (logit == 0) logit = 0;            // -0 and +0 are equal
  const uint32_t bits = __float_as_uint(logit);
  const uint32_t order = (bits & 0x80000000u) ? ~bits : (bits | 0x80000000u);
  return (static_cast<Candidate>(order) << 32) | static_cast<uint32_t>(~index);
}

__device__ int32_t index_of(Candidate c) {
  return static_cast<int32_t>(~static_cast<uint32_t>(c));
}

__device__ float logit_of(Candidate c) {
  const auto order = static_cast<uint32_t>(c >> 32);
  return __uint_as_float((order & 0x80000000u) ? (order & 0x7fffffffu) : ~order);
}

// exp(scale * (z - max)). In double precision, because the difference of two logits may be larger
// than any float where the scale is small, and that of two products lost where it is large.
__device__ float weight(float z, float max, float scale) {
  return expf(static_cast<float>(double{scale} * (double{z} - double{max})));
}

// The largest logit, and the sum of all weights relative to it.
struct Softmax {
  float max;
  double sum;
};

__device__ void add(Softmax& total, float z, float scale) {
  if (z == -INFINITY) return;
  if (z <= total.max) {
    total.sum += weight(z, total.max, scale);
  } else {
    total.sum = total.sum > 0 ? total.sum * weight(total.max, z, scale) + 1 : 1;
    total.max = z;
  }
}

__device__ Softmax joined(const Softmax& a, const Softmax& b, float scale) {
  if (a.max == -INFINITY) return b;
  if (b.max == -INFINITY) return a;
  const float max = fmaxf(a.max, b.max);
  return {max, a.sum * weight(a.max, max, scale) + b.sum * weight(b.max, max, scale)};
}

__device__ float probability(float z, const Softmax& total, float scale) {
  if (total.max == -INFINITY) return 0;
  return static_cast<float>(weight(z, total.max, scale) / total.sum);
}

struct Shared {
  Candidate best[kRoom];
  float max[kThreads];
  double sum[kThreads];
  int count;
};

// Bitonic sort into descending order; what is missing to a power of two is filled up with none.
__device__ void sort_candidates(Shared& shared) {
  int size = 2;
  while (size < shared.count) size *= 2;
  for (int i = shared.count + threadIdx.x; i < size; i += kThreads) shared.best[i] = 0;
  for (int run = 2; run <= size; run *= 2) {
    for (int gap = run / 2; gap > 0; gap /= 2) {
      __syncthreads();
      for (int pair = threadIdx.x; pair < size / 2; pair += kThreads) {
        const int i = 2 * pair - (pair & (gap - 1));
        const int other = i + gap;
        const bool descending = (i & run) == 0;
        const Candidate a = shared.best[i], b = shared.best[other];
        if ((a < b) == descending) {
          shared.best[i] = b;
          shared.best[other] = a;
        }
      }
    }
  }
  __syncthreads();
}

// All threads have offered what they had. Keeps the best and returns what the next have to beat.
__device__ Candidate keep_best(Shared& shared, int winners) {
  sort_candidates(shared);
  const Candidate least = shared.count >= winners ? shared.best[winners - 1] : 0;
  __syncthreads();
  if (threadIdx.x == 0 && shared.count > winners) shared.count = winners;
  __syncthreads();
  return least;
}

__device__ Softmax joined_in_block(Shared& shared, const Softmax& mine, float scale) {
  shared.max[threadIdx.x] = mine.max;
  shared.sum[threadIdx.x] = mine.sum;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.x) >= half) continue;
    const int other = threadIdx.x + half;
    const Softmax both = joined({shared.max[threadIdx.x], shared.sum[threadIdx.x]},
                                {shared.max[other], shared.sum[other]}, scale);
    shared.max[threadIdx.x] = both.max;
    shared.sum[threadIdx.x] = both.sum;
  }
  __syncthreads();
  return {shared.max[0], shared.sum[0]};
}

// Winners [first, first + winners) of one row. Those before are written already, by launches that
// came before this one, and the last of them says which entries are left.
__device__ void solve_row(const SoftmaxTopkArgs& args, int64_t row, int64_t first, int winners,
                          Shared& shared) {
  const float* logits = static_cast<const float*>(args.logits) + row * args.row_stride;
  const int64_t len = args.valid_len ? args.valid_len[row] : args.vocab;
  Candidate bound = ~Candidate{0};
  if (first > 0) {
    const int32_t last = args.indices[row * args.k + first - 1];
    bound = last < 0 ? 0 : candidate(logits[last], last);
  }
  __syncthreads();
  if (threadIdx.x == 0) shared.count = 0;
  __syncthreads();

  Softmax mine{-INFINITY, 0};
  Candidate least = 0;
  for (int64_t begin = 0; begin < len; begin += kThreads) {
    const int64_t j = begin + threadIdx.x;
    if (j < len) {
      add(mine, logits[j], args.scale);
      const Candidate c = candidate(logits[j], j);
      if (c > least && c < bound) shared.best[atomicAdd(&shared.count, 1)] = c;
    }
    __syncthreads();
    const bool full = shared.count > kRoom - kThreads;
    __syncthreads();
    if (full) least = keep_best(shared, winners);
  }
  keep_best(shared, winners);
  const Softmax total = joined_in_block(shared, mine, args.scale);

  for (int j = threadIdx.x; j < winners; j += kThreads) {
    const Candidate c = j < shared.count ? shared.best[j] : 0;
    const int64_t at = row * args.k + first + j;
    args.indices[at] = c == 0 ? -1 : index_of(c);
    args.probs[at] = c == 0 ? 0.0f : probability(logit_of(c), total, args.scale);
  }
  if (threadIdx.x > 0 || first > 0) return;
  const double max = double{args.scale} * total.max;
  if (args.lse) args.lse[row] = static_cast<float>(total.sum > 0 ? max + log(total.sum) : max);
  if (args.row_max) args.row_max[row] = static_cast<float>(max);
}

__global__ void __launch_bounds__(kThreads)
    solve_rows(SoftmaxTopkArgs args, int64_t first, int winners) {
  __shared__ Shared shared;
  for (int64_t row = blockIdx.x; row < args.rows; row += gridDim.x)
    solve_row(args, row, first, winners, shared);
}

bool is_supported(const SoftmaxTopkArgs& args) {
  return args.abi_version == SOFTMAX_TOPK_ABI_VERSION && args.device == SOFTMAX_TOPK_CUDA &&
         args.data_type == SOFTMAX_TOPK_F32;
}

bool is_sensible(const SoftmaxTopkArgs& args) {
  if (args.rows < 0 || args.vocab < 1 || args.k < 1 || args.k > args.vocab) return false;
  if (args.row_stride < args.vocab || args.num_threads < 1) return false;
  if (!std::isfinite(args.scale) || args.scale <= 0) return false;
  return args.rows == 0 || (args.logits && args.indices && args.probs);
}

}  // namespace

extern "C" int64_t softmax_topk(const SoftmaxTopkArgs* args) {
  if (!is_supported(*args)) return SOFTMAX_TOPK_UNSUPPORTED;
  if (!is_sensible(*args)) return SOFTMAX_TOPK_BAD_ARGUMENT;
  if (args->rows == 0) return SOFTMAX_TOPK_OK;
  const auto stream = static_cast<cudaStream_t>(args->stream);
  const auto blocks = static_cast<unsigned>(args->rows < 65536 ? args->rows : 65536);
  for (int64_t first = 0; first < args->k; first += kMostWinners) {
    const int64_t left = args->k - first;
    const int winners = static_cast<int>(left < kMostWinners ? left : kMostWinners);
    solve_rows<<<blocks, kThreads, 0, stream>>>(*args, first, winners);
  }
  return cudaGetLastError();
}
