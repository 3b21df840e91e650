// Flash attention backward on host threads: the five matrix products of one tile of queries and one
// block of keys stay in the core's own caches, and every product runs through one register-tiled
// kernel.
//
// Order of work. The keys of one kv head are cut into blocks. For a block, K and V are packed once;
// then all tiles of queries that see any of its keys pass by, for every query head of the group. dK
// and dV of the block collect in scratch memory, dQ collects in the output rows themselves. When
// there are fewer kv heads than threads want, threads share the blocks of a head, and all but the
// first collect dQ in memory of their own, summed in a fixed order at the end: the result depends
// on num_threads, never on timing.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <omp.h>
#include <vector>

#include "contract.h"

namespace {

#if defined(__AVX512F__)
constexpr int kLanes = 16;
constexpr int kTileRows = 6;  // kTileRows * kTileVectors accumulators, and room for the operands
constexpr int kTileVectors = 4;
#elif defined(__AVX__)
constexpr int kLanes = 8;
constexpr int kTileRows = 6;
constexpr int kTileVectors = 2;
#else
constexpr int kLanes = 4;
constexpr int kTileRows = 6;
constexpr int kTileVectors = 2;
#endif

typedef float Vec __attribute__((vector_size(kLanes * sizeof(float))));
typedef float LooseVec __attribute__((vector_size(kLanes * sizeof(float)), aligned(4), may_alias));
typedef std::int32_t IntVec __attribute__((vector_size(kLanes * sizeof(std::int32_t))));

constexpr std::int64_t kQueries = 64;  // rows of a tile
constexpr std::int64_t kKeys = 64;     // columns of a tile; a multiple of kLanes

Vec load(const float* from) {
  return *reinterpret_cast<const LooseVec*>(from);
}
void store(float* to, Vec value) {
  *reinterpret_cast<LooseVec*>(to) = value;
}
Vec all(float value) {
  return Vec{} + value;
}

std::int64_t padded(std::int64_t count) {
  return (count + kLanes - 1) / kLanes * kLanes;
}

// ---------------------------------------------------------------- matrix products

/// c[m][:] (+)= sum_t a[m * a_row + t * a_step] * b[t * b_row + :] for M rows and V vectors.
template <int M, int V, bool kAdd>
void tile_product(const float* a, std::int64_t a_row, std::int64_t a_step, const float* b,
                  std::int64_t b_row, float* c, std::int64_t c_row, std::int64_t depth) {
  Vec sum[M][V];
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m)
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) sum[m][v] = kAdd ? load(c + m * c_row + v * kLanes) : Vec{};
  for (std::int64_t t = 0; t < depth; ++t) {
    Vec right[V];
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) right[v] = load(b + t * b_row + v * kLanes);
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) {
      const Vec left = all(a[m * a_row + t * a_step]);
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v) sum[m][v] += left * right[v];
    }
  }
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m)
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) store(c + m * c_row + v * kLanes, sum[m][v]);
}

using TileProduct = void (*)(const float*, std::int64_t, std::int64_t, const float*, std::int64_t,
                             float*, std::int64_t, std::int64_t);

template <int M, bool kAdd>
constexpr TileProduct kByVectors[4] = {tile_product<M, 1, kAdd>,
                                       tile_product<M, 2 <= kTileVectors ? 2 : 1, kAdd>,
                                       tile_product<M, 3 <= kTileVectors ? 3 : 1, kAdd>,
                                       tile_product<M, 4 <= kTileVectors ? 4 : 1, kAdd>};

template <bool kAdd>
TileProduct tile_product_for(int rows, int vectors) {
  switch (rows) {
    case 1:
      return kByVectors<1, kAdd>[vectors - 1];
    case 2:
      return kByVectors<2, kAdd>[vectors - 1];
    case 3:
      return kByVectors<3, kAdd>[vectors - 1];
    case 4:
      return kByVectors<4, kAdd>[vectors - 1];
    case 5:
      return kByVectors<5, kAdd>[vectors - 1];
    default:
      return kByVectors<6, kAdd>[vectors - 1];
  }
}

/// A matrix operand that is read element by element: row m, step t of the sum.
struct Left {
  const float* data;
  std::int64_t row;
  std::int64_t step;
};

/// c[rows][columns] (+)= left * right; columns is a multiple of kLanes and all rows are padded.
template <bool kAdd>
void product(const Left& left, const float* right, std::int64_t right_row, float* c,
             std::int64_t c_row, std::int64_t rows, std::int64_t columns, std::int64_t depth) {
  for (std::int64_t j = 0; j < columns; j += kTileVectors * kLanes) {
    const int vectors =
        static_cast<int>(std::min<std::int64_t>(kTileVectors, (columns - j) / kLanes));
    for (std::int64_t i = 0; i < rows; i += kTileRows) {
      const int count = static_cast<int>(std::min<std::int64_t>(kTileRows, rows - i));
      tile_product_for<kAdd>(count, vectors)(left.data + i * left.row, left.row, left.step,
                                             right + j, right_row, c + i * c_row + j, c_row, depth);
    }
  }
}

// ---------------------------------------------------------------- functions of a vector

/// e^x to about one unit in the last place; 0 below the normal range, so also for -infinity.
Vec exp_of(Vec x) {
  const Vec kShifter = all(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer
  const Vec high = x > 88.0f ? all(88.0f) : x;
  const Vec shifted = high * 1.44269504088896341f + kShifter;
  const Vec n = shifted - kShifter;
  const Vec r = (high - n * 0.693359375f) + n * 2.12194440e-4f;
  Vec p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  const IntVec scaled = reinterpret_cast<IntVec>(p) + (reinterpret_cast<IntVec>(shifted) << 23);
  return x < -87.0f ? Vec{} : reinterpret_cast<Vec>(scaled);
}

Vec tanh_of(Vec x) {
  const Vec square = x * x;
  Vec p = square * -5.70498872745e-3f + 2.06390887954e-2f;
  p = p * square - 5.37397155531e-2f;
  p = p * square + 1.33314422036e-1f;
  p = p * square - 3.33332819422e-1f;
  const Vec near = p * square * x + x;
  const Vec size = x < 0.0f ? -x : x;
  const Vec far = 1.0f - 2.0f / (exp_of(2.0f * size) + 1.0f);
  return size < 0.625f ? near : (x < 0.0f ? -far : far);
}

// ---------------------------------------------------------------- the problem

using Args = FlashAttentionBackwardArgs;

struct Rows {
  const float* data;
  std::int64_t stride;
};

struct OutRows {
  float* data;  // null: not wanted
  std::int64_t stride;
};

const float* at(const void* base, std::int64_t offset) {
  return static_cast<const float*>(base) + offset;
}
float* at(void* base, std::int64_t offset) {
  return base == nullptr ? nullptr : static_cast<float*>(base) + offset;
}

/// Which keys a query sees: [first(i), last(i)) of one sequence.
struct Mask {
  std::int64_t shift, left, right;  // visible: i + shift - left <= j <= i + shift + right
  std::int64_t begin, end;          // keys of the sequence

  std::int64_t first(std::int64_t i) const { return std::max(begin, i + shift - left); }
  std::int64_t last(std::int64_t i) const { return std::min(end, i + shift + right + 1); }
};

Mask mask_of(const Args& a, std::int64_t batch) {
  const std::int64_t far = a.q_len + a.k_len + 1;  // from any query beyond every key
  Mask mask{};
  mask.begin = a.kv_start ? a.kv_start[batch] : 0;
  mask.end = a.kv_len ? mask.begin + a.kv_len[batch] : a.k_len;
  mask.shift = mask.end - a.q_len;
  mask.left = a.window_left < 0 ? far : std::min(a.window_left, far);
  mask.right = a.window_right < 0 ? far : std::min(a.window_right, far);
  if (a.causal) mask.right = 0;
  return mask;
}

/// One kv head of one sequence.
struct KvHead {
  std::int64_t batch;
  std::int64_t head;
};

/// One query head's arrays.
struct QueryHead {
  Rows q, d_out;
  const float* lse;
  const float* delta;
  OutRows dq;
};

// ---------------------------------------------------------------- scratch memory

/// 64-byte aligned floats, zeroed where it matters: the padding of packed rows must stay finite.
struct FloatDelete {
  void operator()(float* data) const { ::operator delete[](data, std::align_val_t{64}); }
};
using Floats = std::unique_ptr<float[], FloatDelete>;

Floats floats(std::int64_t count) {
  const std::size_t bytes =
      static_cast<std::size_t>(std::max<std::int64_t>(count, 1)) * sizeof(float);
  Floats made(static_cast<float*>(::operator new[](bytes, std::align_val_t{64})));
  std::memset(made.get(), 0, bytes);
  return made;
}

/// What one thread works in. K and V of the block twice: as rows and transposed.
struct Scratch {
  explicit Scratch(const Args& a)
      : d(padded(a.head_dim)),
        dv(padded(a.value_dim)),
        k_rows(floats(kKeys * d)),
        k_columns(floats(a.head_dim * kKeys)),
        v_columns(floats(a.value_dim * kKeys)),
        q(floats(kQueries * d)),
        d_out(floats(kQueries * dv)),
        p(floats(kQueries * kKeys)),
        ds(floats(kQueries * kKeys)),
        dq(floats(kQueries * d)),
        dk(floats(kKeys * d)),
        dv_sum(floats(kKeys * dv)) {}

  std::int64_t d, dv;
  Floats k_rows, k_columns, v_columns, q, d_out, p, ds, dq, dk, dv_sum;
};

void pack_rows(const Rows& from, std::int64_t first, std::int64_t count, std::int64_t columns,
               float* to, std::int64_t to_row) {
  for (std::int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * to_row, from.data + (first + i) * from.stride,
                static_cast<std::size_t>(columns) * sizeof(float));
}

/// to[column][key], the keys that do not exist as zeros.
void pack_columns(const Rows& from, std::int64_t first, std::int64_t count, std::int64_t columns,
                  float* to) {
  for (std::int64_t c = 0; c < columns; ++c) {
    for (std::int64_t j = 0; j < count; ++j)
      to[c * kKeys + j] = from.data[(first + j) * from.stride + c];
    for (std::int64_t j = count; j < kKeys; ++j) to[c * kKeys + j] = 0;
  }
}

// ---------------------------------------------------------------- one tile

struct Tile {
  std::int64_t first_query, queries;
  std::int64_t first_key, keys, key_columns;  // key_columns: keys, padded
};

/// From q.k and dP to P and scale * dx, in place, for one row. Lanes outside
/// [first, last) are keys that this query does not see.
template <bool kMasked, bool kCapped>
void finish_row(const Args& a, float lse, float delta, std::int64_t first, std::int64_t last,
                float* p, float* ds, std::int64_t columns) {
  IntVec lane;
  for (int i = 0; i < kLanes; ++i) lane[i] = i;
  for (std::int64_t j = 0; j < columns; j += kLanes) {
    Vec score = load(p + j) * a.scale;
    Vec slope = all(a.scale);
    if constexpr (kCapped) {
      const Vec t = tanh_of(score / a.softcap);
      score = t * a.softcap;
      slope *= 1.0f - t * t;
    }
    Vec weight = exp_of(score - lse);
    Vec d_score = weight * (load(ds + j) - delta) * slope;
    if constexpr (kMasked) {
      const IntVec key = lane + static_cast<std::int32_t>(j);
      const IntVec seen =
          (key >= static_cast<std::int32_t>(first)) & (key < static_cast<std::int32_t>(last));
      weight = seen ? weight : Vec{};
      d_score = seen ? d_score : Vec{};
    }
    store(p + j, weight);
    store(ds + j, d_score);
  }
}

/// P and scale * dx of a tile, from q.k in s.p and dP in s.ds.
template <bool kCapped>
void finish_tile(const Args& a, const Mask& mask, const QueryHead& head, const Tile& tile,
                 Scratch& s) {
  for (std::int64_t r = 0; r < tile.queries; ++r) {
    const std::int64_t i = tile.first_query + r;
    float* p = s.p.get() + r * kKeys;
    float* ds = s.ds.get() + r * kKeys;
    // A row without keys has lse = -inf; +inf instead makes all its weights exp(-inf) = 0.
    const float lse =
        std::isinf(head.lse[i]) ? std::numeric_limits<float>::infinity() : head.lse[i];
    const std::int64_t first = std::max<std::int64_t>(mask.first(i) - tile.first_key, 0);
    const std::int64_t last = std::min(mask.last(i) - tile.first_key, tile.keys);
    if (first <= 0 && last >= tile.key_columns)
      finish_row<false, kCapped>(a, lse, head.delta[i], 0, 0, p, ds, tile.key_columns);
    else
      finish_row<true, kCapped>(a, lse, head.delta[i], std::min(first, tile.key_columns),
                                std::max<std::int64_t>(last, 0), p, ds, tile.key_columns);
  }
}

void add_rows(const float* from, std::int64_t from_row, const OutRows& to, std::int64_t first,
              std::int64_t count, std::int64_t columns) {
  for (std::int64_t i = 0; i < count; ++i) {
    float* row = to.data + (first + i) * to.stride;
    for (std::int64_t c = 0; c < columns; ++c) row[c] += from[i * from_row + c];
  }
}

void do_tile(const Args& a, const Mask& mask, const QueryHead& head, const Tile& tile, Scratch& s) {
  pack_rows(head.q, tile.first_query, tile.queries, a.head_dim, s.q.get(), s.d);
  pack_rows(head.d_out, tile.first_query, tile.queries, a.value_dim, s.d_out.get(), s.dv);
  product<false>({s.q.get(), s.d, 1}, s.k_columns.get(), kKeys, s.p.get(), kKeys, tile.queries,
                 tile.key_columns, a.head_dim);
  product<false>({s.d_out.get(), s.dv, 1}, s.v_columns.get(), kKeys, s.ds.get(), kKeys,
                 tile.queries, tile.key_columns, a.value_dim);
  if (a.softcap > 0)
    finish_tile<true>(a, mask, head, tile, s);
  else
    finish_tile<false>(a, mask, head, tile, s);
  if (a.dv != nullptr)
    product<true>({s.p.get(), 1, kKeys}, s.d_out.get(), s.dv, s.dv_sum.get(), s.dv, tile.keys, s.dv,
                  tile.queries);
  if (a.dk != nullptr)
    product<true>({s.ds.get(), 1, kKeys}, s.q.get(), s.d, s.dk.get(), s.d, tile.keys, s.d,
                  tile.queries);
  if (head.dq.data == nullptr) return;
  product<false>({s.ds.get(), kKeys, 1}, s.k_rows.get(), s.d, s.dq.get(), s.d, tile.queries, s.d,
                 tile.keys);
  add_rows(s.dq.get(), s.d, head.dq, tile.first_query, tile.queries, a.head_dim);
}

// ---------------------------------------------------------------- one block of keys

Rows rows_of(const void* base, std::int64_t batch, std::int64_t batch_stride, std::int64_t head,
             std::int64_t head_stride, std::int64_t row_stride) {
  return {at(base, batch * batch_stride + head * head_stride), row_stride};
}

void write_rows(const float* from, std::int64_t from_row, void* base, std::int64_t offset,
                std::int64_t stride, std::int64_t count, std::int64_t columns) {
  if (base == nullptr) return;
  for (std::int64_t i = 0; i < count; ++i)
    std::memcpy(at(base, offset + i * stride), from + i * from_row,
                static_cast<std::size_t>(columns) * sizeof(float));
}

void zero_rows(void* base, std::int64_t offset, std::int64_t stride, std::int64_t count,
               std::int64_t columns) {
  if (base == nullptr) return;
  for (std::int64_t i = 0; i < count; ++i)
    std::memset(at(base, offset + i * stride), 0,
                static_cast<std::size_t>(columns) * sizeof(float));
}

/// Everything that keys [first, first + keys) of a kv head take part in.
void do_block(const Args& a, const Mask& mask, KvHead kv, const std::vector<QueryHead>& group,
              std::int64_t first, std::int64_t keys, Scratch& s) {
  const Rows k = rows_of(a.k, kv.batch, a.k_batch_stride, kv.head, a.k_head_stride, a.k_row_stride);
  const Rows v = rows_of(a.v, kv.batch, a.v_batch_stride, kv.head, a.v_head_stride, a.v_row_stride);
  pack_rows(k, first, keys, a.head_dim, s.k_rows.get(), s.d);
  pack_columns(k, first, keys, a.head_dim, s.k_columns.get());
  pack_columns(v, first, keys, a.value_dim, s.v_columns.get());
  std::fill_n(s.dk.get(), keys * s.d, 0.0f);
  std::fill_n(s.dv_sum.get(), keys * s.dv, 0.0f);

  // Queries that see a key of the block: those before see only earlier keys, those after only
  // later.
  const std::int64_t from = std::max<std::int64_t>(0, first - mask.shift - mask.right);
  const std::int64_t to = std::min(a.q_len, first + keys - mask.shift + mask.left);
  for (const QueryHead& head : group)
    for (std::int64_t i = from; i < to; i += kQueries)
      do_tile(a, mask, head, {i, std::min(kQueries, to - i), first, keys, padded(keys)}, s);

  write_rows(s.dk.get(), s.d, a.dk,
             kv.batch * a.dk_batch_stride + kv.head * a.dk_head_stride + first * a.dk_row_stride,
             a.dk_row_stride, keys, a.head_dim);
  write_rows(s.dv_sum.get(), s.dv, a.dv,
             kv.batch * a.dv_batch_stride + kv.head * a.dv_head_stride + first * a.dv_row_stride,
             a.dv_row_stride, keys, a.value_dim);
}

// ---------------------------------------------------------------- heads and threads

/// The query heads that read a kv head. own_dq, where there is one, takes the place of dq.
std::vector<QueryHead> group_of(const Args& a, KvHead kv, const float* delta, float* own_dq) {
  const std::int64_t size = a.q_heads / a.kv_heads;
  std::vector<QueryHead> group;
  for (std::int64_t g = 0; g < size; ++g) {
    const std::int64_t h = kv.head * size + g;
    const std::int64_t row = (kv.batch * a.q_heads + h) * a.q_len;
    OutRows dq{at(a.dq, kv.batch * a.dq_batch_stride + h * a.dq_head_stride), a.dq_row_stride};
    if (a.dq != nullptr && own_dq != nullptr) dq = {own_dq + g * a.q_len * a.head_dim, a.head_dim};
    group.push_back(
        {rows_of(a.q, kv.batch, a.q_batch_stride, h, a.q_head_stride, a.q_row_stride),
         rows_of(a.dout, kv.batch, a.dout_batch_stride, h, a.dout_head_stride, a.dout_row_stride),
         a.lse + row, delta + row, dq});
  }
  return group;
}

void zero_missing_keys(const Args& a, const Mask& mask, KvHead kv) {
  const std::int64_t dk = kv.batch * a.dk_batch_stride + kv.head * a.dk_head_stride;
  const std::int64_t dv = kv.batch * a.dv_batch_stride + kv.head * a.dv_head_stride;
  const auto zero = [&](std::int64_t first, std::int64_t last) {
    zero_rows(a.dk, dk + first * a.dk_row_stride, a.dk_row_stride, last - first, a.head_dim);
    zero_rows(a.dv, dv + first * a.dv_row_stride, a.dv_row_stride, last - first, a.value_dim);
  };
  zero(0, mask.begin);
  zero(mask.end, a.k_len);
}

/// A part of one kv head's work: every parts-th block of keys, so that causal work is even.
void do_head(const Args& a, KvHead kv, int part, int parts, const float* delta, float* own_dq,
             Scratch& s) {
  const Mask mask = mask_of(a, kv.batch);
  const std::vector<QueryHead> group = group_of(a, kv, delta, own_dq);
  for (const QueryHead& head : group)
    if (head.dq.data != nullptr) zero_rows(head.dq.data, 0, head.dq.stride, a.q_len, a.head_dim);
  if (part == 0) zero_missing_keys(a, mask, kv);
  for (std::int64_t first = mask.begin + part * kKeys; first < mask.end; first += parts * kKeys)
    do_block(a, mask, kv, group, first, std::min(kKeys, mask.end - first), s);
}

void compute_delta(const Args& a, float* delta, int threads) {
  const std::int64_t rows = a.batch * a.q_heads * a.q_len;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t i = row % a.q_len;
    const std::int64_t h = row / a.q_len % a.q_heads;
    const std::int64_t b = row / a.q_len / a.q_heads;
    const float* o = at(a.o, b * a.o_batch_stride + h * a.o_head_stride + i * a.o_row_stride);
    const float* dout =
        at(a.dout, b * a.dout_batch_stride + h * a.dout_head_stride + i * a.dout_row_stride);
    double sum = a.dlse != nullptr ? -static_cast<double>(a.dlse[row]) : 0.0;
    for (std::int64_t c = 0; c < a.value_dim; ++c) sum += static_cast<double>(o[c]) * dout[c];
    delta[row] = static_cast<float>(sum);
  }
}

void heads_in_parallel(const Args& a, const float* delta, int threads) {
  const std::int64_t heads = a.batch * a.kv_heads;
#pragma omp parallel num_threads(threads)
  {
    Scratch scratch(a);
#pragma omp for schedule(dynamic)
    for (std::int64_t n = 0; n < heads; ++n)
      do_head(a, {n / a.kv_heads, n % a.kv_heads}, 0, 1, delta, nullptr, scratch);
  }
}

/// dq of one head's rows += what the other parts collected; shared by the team that calls it.
void add_parts(const Args& a, KvHead kv, const std::vector<Floats>& own) {
  const std::int64_t group = a.q_heads / a.kv_heads;
#pragma omp for schedule(static)
  for (std::int64_t row = 0; row < group * a.q_len; ++row) {
    const std::int64_t h = kv.head * group + row / a.q_len;
    float* to = at(a.dq, kv.batch * a.dq_batch_stride + h * a.dq_head_stride +
                             row % a.q_len * a.dq_row_stride);
    for (std::size_t part = 1; part < own.size(); ++part) {
      const float* from = own[part].get() + row * a.head_dim;
      for (std::int64_t c = 0; c < a.head_dim; ++c) to[c] += from[c];
    }
  }
}

/// All threads on one head after the other. The number of parts is num_threads, also when the
/// system gives fewer threads: the bits must not depend on that.
void keys_in_parallel(const Args& a, const float* delta, int threads) {
  std::vector<Floats> own(static_cast<std::size_t>(threads));  // of part 0: none
  const std::int64_t rows = a.q_heads / a.kv_heads * a.q_len;
  for (std::size_t part = 1; part < own.size(); ++part)
    own[part] = floats(a.dq != nullptr ? rows * a.head_dim : 0);
#pragma omp parallel num_threads(threads)
  {
    Scratch scratch(a);
    for (std::int64_t n = 0; n < a.batch * a.kv_heads; ++n) {
      const KvHead kv{n / a.kv_heads, n % a.kv_heads};
#pragma omp for schedule(static, 1)
      for (int part = 0; part < threads; ++part)
        do_head(a, kv, part, threads, delta, own[static_cast<std::size_t>(part)].get(), scratch);
      if (a.dq != nullptr) add_parts(a, kv, own);
    }
  }
}

// ---------------------------------------------------------------- arguments

bool good_sizes(const Args& a) {
  if (a.batch < 0 || a.q_heads < 0 || a.kv_heads < 0 || a.q_len < 0 || a.k_len < 0) return false;
  if (a.head_dim < 1 || a.head_dim > 256 || a.value_dim < 1 || a.value_dim > 256) return false;
  if (a.kv_heads == 0) return a.q_heads == 0;
  return a.q_heads % a.kv_heads == 0;
}

bool good_strides(const Args& a) {
  for (const std::int64_t stride :
       {a.q_batch_stride,    a.q_head_stride,    a.q_row_stride,    a.k_batch_stride,
        a.k_head_stride,     a.k_row_stride,     a.v_batch_stride,  a.v_head_stride,
        a.v_row_stride,      a.o_batch_stride,   a.o_head_stride,   a.o_row_stride,
        a.dout_batch_stride, a.dout_head_stride, a.dout_row_stride, a.dq_batch_stride,
        a.dq_head_stride,    a.dq_row_stride,    a.dk_batch_stride, a.dk_head_stride,
        a.dk_row_stride,     a.dv_batch_stride,  a.dv_head_stride,  a.dv_row_stride})
    if (stride < 0) return false;
  return true;
}

bool good_arrays(const Args& a) {
  const bool queries = a.batch > 0 && a.q_heads > 0 && a.q_len > 0;
  const bool keys = a.batch > 0 && a.kv_heads > 0 && a.k_len > 0;
  if (queries && (!a.q || !a.o || !a.dout || !a.lse)) return false;
  if (keys && (!a.k || !a.v)) return false;
  for (std::int64_t b = 0; b < a.batch; ++b) {
    const std::int64_t start = a.kv_start ? a.kv_start[b] : 0;
    const std::int64_t length = a.kv_len ? a.kv_len[b] : a.k_len - start;
    if (start < 0 || length < 0 || start + length > a.k_len) return false;
  }
  return true;
}

bool good(const Args& a) {
  return a.num_threads >= 1 && a.window_left >= -1 && a.window_right >= -1 &&
         std::isfinite(a.scale) && std::isfinite(a.softcap) && a.softcap >= 0 && good_sizes(a) &&
         good_strides(a) && good_arrays(a);
}

}  // namespace

extern "C" int64_t flash_attention_backward(const FlashAttentionBackwardArgs* args) {
  const Args& a = *args;
  if (a.abi_version != FLASH_ATTENTION_ABI_VERSION || a.device != FLASH_ATTENTION_HOST ||
      a.data_type != FLASH_ATTENTION_F32)
    return FLASH_ATTENTION_UNSUPPORTED;
  if (!good(a)) return FLASH_ATTENTION_BAD_ARGUMENT;

  const Floats own_delta = floats(a.delta == nullptr ? a.batch * a.q_heads * a.q_len : 0);
  float* delta = a.delta != nullptr ? a.delta : own_delta.get();
  compute_delta(a, delta, a.num_threads);
  if (a.dq == nullptr && a.dk == nullptr && a.dv == nullptr) return FLASH_ATTENTION_OK;
  const std::int64_t heads = a.batch * a.kv_heads;
  if (heads >= 4 * a.num_threads || heads % a.num_threads == 0) {
    heads_in_parallel(a, delta, a.num_threads);
  } else {
    const std::int64_t blocks = std::max<std::int64_t>(1, (a.k_len + kKeys - 1) / kKeys);
    keys_in_parallel(a, delta, static_cast<int>(std::min<std::int64_t>(a.num_threads, blocks)));
  }
  return FLASH_ATTENTION_OK;
}
