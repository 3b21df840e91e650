// uses: keys may be taken in tiles of any size, so that results differ within ACCURACY
// SPDX-License-Identifier: Apache-2.0
// Flash attention with the queries of a block in the lanes of vector registers.
//
// A block of up to kGroups * kLanes queries walks over the keys in tiles. Scores are kept
// transposed, [key][query], so that maximum, exponential and sum of the online softmax are vertical
// operations, one lane per query, and both matrix products are the same kernel: scalars of K or V
// broadcast against rows of Q^T or P^T. K and V are read in place, whatever their strides.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "contract.h"

namespace {

using Args = FlashAttentionForwardArgs;

#if defined(__AVX512F__)
constexpr int kLanes = 16;
constexpr int kGroups = 4;  // with kStep: 24 sums, 4 loads and a broadcast in 32 registers
#elif defined(__AVX__)
constexpr int kLanes = 8;
constexpr int kGroups = 2;
#else
constexpr int kLanes = 4;
constexpr int kGroups = 2;
#endif
constexpr int kStep = 6;       // keys, or value columns, that one pass of the kernel computes
constexpr int kTileKeys = 96;  // scores of a tile, 24 KiB, stay in the first-level cache
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

typedef float Floats __attribute__((vector_size(kLanes * sizeof(float))));
typedef std::int32_t Ints __attribute__((vector_size(kLanes * sizeof(float))));

inline Floats larger(Floats a, Floats b) {
  return a > b ? a : b;
}

Floats all(float value) {
  return Floats{} + value;
}

/// e^x for x <= 0 within about one unit in the last place; 0 where the result would be subnormal.
inline Floats exp_of_nonpositive(Floats x) {
  const Floats lowest = all(-87.3365f);
  const Floats clamped = larger(x, lowest);
  const Floats shifted = clamped * 1.44269504f + 12582912.0f;  // 1.5 * 2^23: rounds to an integer
  const Floats n = shifted - 12582912.0f;
  const Floats r = (clamped - n * 0.693359375f) + n * 2.12194440e-4f;  // ln 2 in two parts
  Floats p = 1.9875691500e-4f * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = (p * r) * r + r + 1.0f;
  const Floats power = (Floats)((Ints)p + ((Ints)shifted << 23));
  return x < lowest ? Floats{} : power;
}

inline Floats tanh_of(Floats x) {
  const Floats magnitude = x < 0.0f ? -x : x;
  const Floats e = exp_of_nonpositive(-2.0f * magnitude);
  const Floats far = (1.0f - e) / (1.0f + e);
  const Floats s = x * x;  // the quotient cancels near 0; the series does not
  const Floats near =
      magnitude +
      magnitude * s * (-1.0f / 3 + s * (2.0f / 15 + s * (-17.0f / 315 + s * (62.0f / 2835))));
  const Floats positive = magnitude < 0.25f ? near : far;
  return x < 0.0f ? -positive : positive;
}

/// What a thread works with; lanes of queries, innermost [G], G <= kGroups.
struct Scratch {
  explicit Scratch(const Args& args)
      : q(allocated(args.head_dim)), o(allocated(args.value_dim)), p(allocated(kTileKeys)) {}

  struct Free {
    void operator()(Floats* memory) const { std::free(memory); }
  };
  using Memory = std::unique_ptr<Floats[], Free>;
  static Memory allocated(std::int64_t rows) {
    const std::size_t bytes = sizeof(Floats) * kGroups * static_cast<std::size_t>(rows);
    auto* memory = static_cast<Floats*>(std::aligned_alloc(sizeof(Floats), bytes));
    if (memory == nullptr) throw std::bad_alloc();
    return Memory(memory);
  }

  Memory q;  // [head_dim][G], times scale
  Memory o;  // [value_dim][G], not yet divided by the sum
  Memory p;  // [kTileKeys][G]: scores, then weights
};

/// sums[r][g] = sum_n a[r * row + n * step] * b[n][g]
template <int R, int G>
inline void multiply(const float* a, std::int64_t row, std::int64_t step, const Floats* b,
                     std::int64_t count, Floats (&sums)[R][G]) {
  for (int r = 0; r < R; ++r)
    for (int g = 0; g < G; ++g) sums[r][g] = Floats{};
  for (std::int64_t n = 0; n < count; ++n, a += step, b += G) {
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const Floats scalar = all(a[r * row]);
#pragma GCC unroll 8
      for (int g = 0; g < G; ++g) sums[r][g] += scalar * b[g];
    }
  }
}

/// Calls body.template operator()<R>(first) for consecutive runs of R <= kStep out of `count`.
template <int R, class Body>
inline void in_steps(std::int64_t first, std::int64_t count, const Body& body) {
  for (; count - first >= R; first += R) body.template operator()<R>(first);
  if constexpr (R > 1)
    if (first < count) in_steps<R - 1>(first, count, body);
}

/// One block of queries of one head.
template <int G>
class Block {
 public:
  Block(const Args& args, std::int64_t batch, std::int64_t head, std::int64_t first_query,
        Scratch& scratch)
      : args_(args),
        rows_(std::min<std::int64_t>(G * kLanes, args.q_len - first_query)),
        q_(scratch.q.get()),
        o_(scratch.o.get()),
        p_(scratch.p.get()) {
    const std::int64_t kv_head = head / (args.q_heads / args.kv_heads);
    k_ = static_cast<const float*>(args.k) + batch * args.k_batch_stride +
         kv_head * args.k_head_stride;
    v_ = static_cast<const float*>(args.v) + batch * args.v_batch_stride +
         kv_head * args.v_head_stride;
    out_ = static_cast<float*>(args.o) + batch * args.o_batch_stride + head * args.o_head_stride +
           first_query * args.o_row_stride;
    if (args.lse != nullptr)
      lse_ = args.lse + (batch * args.q_heads + head) * args.q_len + first_query;
    find_visible_keys(batch, first_query);
    load_queries(static_cast<const float*>(args.q) + batch * args.q_batch_stride +
                 head * args.q_head_stride + first_query * args.q_row_stride);
  }

  void run() {
    std::fill_n(o_, args_.value_dim * G, Floats{});
    for (int g = 0; g < G; ++g) largest_[g] = all(kMinusInfinity);
    for (std::int64_t key = begin_; key < end_; key += kTileKeys)
      add_tile(key, std::min<std::int64_t>(kTileKeys, end_ - key));
    store();
  }

 private:
  /// Each lane's visible keys, their union [begin_, end_) and intersection [all_begin_, all_end_).
  /// Lanes without a query copy the last one's.
  void find_visible_keys(std::int64_t batch, std::int64_t first_query) {
    const std::int64_t start = args_.kv_start != nullptr ? args_.kv_start[batch] : 0;
    const std::int64_t stop =
        start + (args_.kv_len != nullptr ? args_.kv_len[batch] : args_.k_len - start);
    begin_ = all_end_ = stop;
    end_ = all_begin_ = start;
    for (int lane = 0; lane < G * kLanes; ++lane) {
      const std::int64_t query = first_query + std::min<std::int64_t>(lane, rows_ - 1);
      const std::int64_t position = query + stop - args_.q_len;
      std::int64_t first = start;
      std::int64_t last = stop;
      if (args_.causal != 0) last = std::min(last, position + 1);
      if (args_.window_right >= 0) last = std::min(last, position + args_.window_right + 1);
      if (args_.window_left >= 0) first = std::max(first, position - args_.window_left);
      last = std::max(last, start);
      first = std::min(first, last);
      first_key_[lane / kLanes][lane % kLanes] = static_cast<std::int32_t>(first);
      last_key_[lane / kLanes][lane % kLanes] = static_cast<std::int32_t>(last);
      all_begin_ = std::max(all_begin_, first);
      all_end_ = std::min(all_end_, last);
      if (first == last) continue;
      begin_ = std::min(begin_, first);
      end_ = std::max(end_, last);
    }
  }

  void load_queries(const float* q) {
    auto* lanes = reinterpret_cast<float*>(q_);
    for (int lane = 0; lane < G * kLanes; ++lane)
      for (std::int64_t d = 0; d < args_.head_dim; ++d)
        lanes[d * G * kLanes + lane] =
            lane < rows_ ? q[lane * args_.q_row_stride + d] * args_.scale : 0.0f;
  }

  void add_tile(std::int64_t key, std::int64_t count) {
    Floats tile_largest[G];
    for (int g = 0; g < G; ++g) tile_largest[g] = all(kMinusInfinity);
    const bool masked = key < all_begin_ || key + count > all_end_;
    in_steps<kStep>(0, count, [&]<int R>(std::int64_t first) {
      Floats scores[R][G];
      multiply<R, G>(k_ + (key + first) * args_.k_row_stride, args_.k_row_stride, 1, q_,
                     args_.head_dim, scores);
      if (args_.softcap > 0) cap<R>(scores);
      if (masked) mask<R>(key + first, scores);
      for (int r = 0; r < R; ++r)
        for (int g = 0; g < G; ++g) {
          tile_largest[g] = larger(tile_largest[g], scores[r][g]);
          p_[(first + r) * G + g] = scores[r][g];
        }
    });
    Floats rescale[G];
    update_softmax(count, tile_largest, rescale);
    in_steps<kStep>(0, args_.value_dim, [&]<int R>(std::int64_t first) {
      Floats sums[R][G];
      multiply<R, G>(v_ + key * args_.v_row_stride + first, 1, args_.v_row_stride, p_, count, sums);
      for (int r = 0; r < R; ++r)
        for (int g = 0; g < G; ++g) {
          Floats& o = o_[(first + r) * G + g];
          o = o * rescale[g] + sums[r][g];
        }
    });
  }

  template <int R>
  void cap(Floats (&scores)[R][G]) const {
    for (auto& row : scores)
      for (Floats& score : row) score = args_.softcap * tanh_of(score / args_.softcap);
  }

  template <int R>
  void mask(std::int64_t key, Floats (&scores)[R][G]) const {
    for (int r = 0; r < R; ++r) {
      const Ints index = Ints{} + static_cast<std::int32_t>(key + r);
      for (int g = 0; g < G; ++g) {
        const Ints visible = (index >= first_key_[g]) & (index < last_key_[g]);
        scores[r][g] = visible ? scores[r][g] : all(kMinusInfinity);
      }
    }
  }

  /// Turns the tile's scores into weights relative to the new maxima. A lane that has seen no key
  /// yet takes 0 for its maximum, so that nothing becomes -inf - -inf.
  void update_softmax(std::int64_t count, const Floats (&tile_largest)[G], Floats (&rescale)[G]) {
    Floats origin[G];
    Floats tile_sum[G];
    for (int g = 0; g < G; ++g) {
      const Floats now = larger(largest_[g], tile_largest[g]);
      origin[g] = now == kMinusInfinity ? Floats{} : now;
      rescale[g] = exp_of_nonpositive(largest_[g] - origin[g]);
      largest_[g] = now;
      tile_sum[g] = Floats{};
    }
    for (std::int64_t n = 0; n < count; ++n)
      for (int g = 0; g < G; ++g) {
        Floats& p = p_[n * G + g];
        p = exp_of_nonpositive(p - origin[g]);
        tile_sum[g] += p;
      }
    for (int g = 0; g < G; ++g) sum_[g] = sum_[g] * rescale[g] + tile_sum[g];
  }

  void store() {
    for (int g = 0; g < G; ++g) {
      const Floats factor = sum_[g] > 0.0f ? 1.0f / sum_[g] : Floats{};
      for (std::int64_t d = 0; d < args_.value_dim; ++d) o_[d * G + g] *= factor;
    }
    const auto* lanes = reinterpret_cast<const float*>(o_);
    for (std::int64_t row = 0; row < rows_; ++row) {
      for (std::int64_t d = 0; d < args_.value_dim; ++d)
        out_[row * args_.o_row_stride + d] = lanes[d * G * kLanes + row];
      if (lse_ == nullptr) continue;
      const float sum = sum_[row / kLanes][row % kLanes];
      lse_[row] = sum > 0 ? largest_[row / kLanes][row % kLanes] + std::log(sum) : kMinusInfinity;
    }
  }

  const Args& args_;
  std::int64_t rows_;
  Floats* q_;
  Floats* o_;
  Floats* p_;
  const float* k_;
  const float* v_;
  float* out_;
  float* lse_ = nullptr;
  std::int64_t begin_, end_, all_begin_, all_end_;
  Ints first_key_[G], last_key_[G];
  Floats largest_[G];
  Floats sum_[G] = {};
};

template <int G>
void run_block(const Args& args, std::int64_t batch, std::int64_t head, std::int64_t first_query,
               Scratch& scratch) {
  if constexpr (G > 1)
    if (args.q_len - first_query <= (G - 1) * kLanes)
      return run_block<G - 1>(args, batch, head, first_query, scratch);
  Block<G>(args, batch, head, first_query, scratch).run();
}

/// All blocks of all heads. Later queries see more keys when a mask is causal: they go first, so
/// that the threads finish together.
void run_all(const Args& args) {
  const std::int64_t block = kGroups * kLanes;
  const std::int64_t blocks = (args.q_len + block - 1) / block;
  const std::int64_t items = args.batch * args.q_heads * blocks;
  std::atomic<std::int64_t> next{0};
  const auto work = [&] {
    Scratch scratch(args);
    for (std::int64_t item; (item = next.fetch_add(1)) < items;) {
      const std::int64_t head = item / blocks;
      run_block<kGroups>(args, head / args.q_heads, head % args.q_heads,
                         (blocks - 1 - item % blocks) * block, scratch);
    }
  };
  std::vector<std::thread> helpers;
  for (std::int64_t n = 1; n < std::min<std::int64_t>(args.num_threads, items); ++n)
    helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
}

bool bad_sizes(const Args& a) {
  if (a.batch < 0 || a.q_heads < 0 || a.kv_heads < 0 || a.q_len < 0 || a.k_len < 0) return true;
  if (a.head_dim < 1 || a.value_dim < 1 || a.num_threads < 1) return true;
  if (a.q_heads > 0 && (a.kv_heads < 1 || a.q_heads % a.kv_heads != 0)) return true;
  for (const std::int64_t stride :
       {a.q_batch_stride, a.q_head_stride, a.q_row_stride, a.k_batch_stride, a.k_head_stride,
        a.k_row_stride, a.v_batch_stride, a.v_head_stride, a.v_row_stride, a.o_batch_stride,
        a.o_head_stride, a.o_row_stride})
    if (stride < 0) return true;
  return false;
}

bool bad_options(const Args& a) {
  if (!std::isfinite(a.scale) || !std::isfinite(a.softcap) || a.softcap < 0) return true;
  if (a.window_left < -1 || a.window_right < -1) return true;
  const bool writes = a.batch > 0 && a.q_heads > 0 && a.q_len > 0;
  if (writes && (a.q == nullptr || a.o == nullptr)) return true;
  if (writes && a.k_len > 0 && (a.k == nullptr || a.v == nullptr)) return true;
  for (std::int64_t b = 0; b < a.batch; ++b) {
    const std::int64_t start = a.kv_start != nullptr ? a.kv_start[b] : 0;
    const std::int64_t length = a.kv_len != nullptr ? a.kv_len[b] : a.k_len - start;
    if (start < 0 || length < 0 || start + length > a.k_len) return true;
  }
  return false;
}

}  // namespace

extern "C" int64_t flash_attention_forward(const FlashAttentionForwardArgs* args) {
  if (args->abi_version != FLASH_ATTENTION_ABI_VERSION || args->device != FLASH_ATTENTION_HOST ||
      args->data_type != FLASH_ATTENTION_F32)
    return FLASH_ATTENTION_UNSUPPORTED;
  if (bad_sizes(*args) || bad_options(*args)) return FLASH_ATTENTION_BAD_ARGUMENT;
  run_all(*args);
  return FLASH_ATTENTION_OK;
}
