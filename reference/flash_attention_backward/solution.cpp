// uses: sums may be taken in any order, so that results differ within ACCURACY, and in their bits
// with num_threads
// SPDX-License-Identifier: Apache-2.0
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
#include <omp.h>
#include <vector>

#include "arguments.h"
#include "contract.h"
#include "mask.h"
#include "scratch.h"
#include "vectors.h"

namespace attention {
namespace {

// Threads on one kv head. Each but the first has a dq of its own, and the contract allows scratch
// memory of eight times the results.
constexpr std::int64_t kMaxParts = 8;

// Threads on heads, each with some 500 KiB to work in: 16 MiB are what the contract allows beside
// that.
constexpr std::int64_t kMaxThreads = 24;

// Threads on deltas: for fewer rows than this, another one takes longer to start than to work.
constexpr std::int64_t kDeltasOfThread = 512;

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

// ---------------------------------------------------------------- one tile

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

struct Tile {
  std::int64_t first_query, queries;
  std::int64_t first_key, keys, key_columns;  // key_columns: keys, padded
};

/// From q.k and dP to P and dx, in place, for one row. Lanes outside [first, last) are keys that
/// this query does not see. scale is left to the finished sums: dx times scale may overflow.
template <bool kMasked, bool kCapped>
void finish_row(const Args& a, float lse, float delta, std::int64_t first, std::int64_t last,
                float* p, float* ds, std::int64_t columns) {
  IntVec lane;
  for (int i = 0; i < kLanes; ++i) lane[i] = i;
  for (std::int64_t j = 0; j < columns; j += kLanes) {
    Vec score = load(p + j) * a.scale;
    Vec slope = all(1.0f);
    if constexpr (kCapped) {
      const Vec t = tanh_of(score / a.softcap);
      score = t * a.softcap;
      slope -= t * t;
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

/// P and dx of a tile, from q.k in s.p and dP in s.ds.
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

void add_rows(const float* from, std::int64_t from_row, float factor, const OutRows& to,
              std::int64_t first, std::int64_t count, std::int64_t columns) {
  for (std::int64_t i = 0; i < count; ++i) {
    float* row = to.data + (first + i) * to.stride;
    for (std::int64_t c = 0; c < columns; ++c) row[c] += factor * from[i * from_row + c];
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
  add_rows(s.dq.get(), s.d, a.scale, head.dq, tile.first_query, tile.queries, a.head_dim);
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

/// What the query heads of a kv head have in common. own_dq, where there is one, takes the place of
/// dq.
struct Group {
  KvHead kv;
  const float* delta;
  float* own_dq;
};

/// Query head g of a group. There may be a million of them: each is made when its turn comes.
QueryHead head_of(const Args& a, const Group& group, std::int64_t g) {
  const std::int64_t b = group.kv.batch;
  const std::int64_t h = group.kv.head * (a.q_heads / a.kv_heads) + g;
  const std::int64_t row = (b * a.q_heads + h) * a.q_len;
  OutRows dq{at(a.dq, b * a.dq_batch_stride + h * a.dq_head_stride), a.dq_row_stride};
  if (a.dq != nullptr && group.own_dq != nullptr)
    dq = {group.own_dq + g * a.q_len * a.head_dim, a.head_dim};
  return {rows_of(a.q, b, a.q_batch_stride, h, a.q_head_stride, a.q_row_stride),
          rows_of(a.dout, b, a.dout_batch_stride, h, a.dout_head_stride, a.dout_row_stride),
          a.lse + row, group.delta + row, dq};
}

/// Everything that keys [first, first + keys) of a kv head take part in.
void do_block(const Args& a, const Mask& mask, const Group& group, std::int64_t first,
              std::int64_t keys, Scratch& s) {
  const KvHead kv = group.kv;
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
  for (std::int64_t g = 0; g < a.q_heads / a.kv_heads; ++g) {
    const QueryHead head = head_of(a, group, g);
    for (std::int64_t i = from; i < to; i += kQueries)
      do_tile(a, mask, head, {i, std::min(kQueries, to - i), first, keys, padded(keys)}, s);
  }

  for (std::int64_t n = 0; n < keys * s.d; ++n) s.dk.get()[n] *= a.scale;
  write_rows(s.dk.get(), s.d, a.dk,
             kv.batch * a.dk_batch_stride + kv.head * a.dk_head_stride + first * a.dk_row_stride,
             a.dk_row_stride, keys, a.head_dim);
  write_rows(s.dv_sum.get(), s.dv, a.dv,
             kv.batch * a.dv_batch_stride + kv.head * a.dv_head_stride + first * a.dv_row_stride,
             a.dv_row_stride, keys, a.value_dim);
}

// ---------------------------------------------------------------- heads and threads

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
void do_head(const Args& a, const Group& group, int part, int parts, Scratch& s) {
  const Mask mask = mask_of(a, group.kv.batch);
  for (std::int64_t g = 0; g < a.q_heads / a.kv_heads; ++g) {
    const OutRows dq = head_of(a, group, g).dq;
    zero_rows(dq.data, 0, dq.stride, a.q_len, a.head_dim);
  }
  if (part == 0) zero_missing_keys(a, mask, group.kv);
  for (std::int64_t first = mask.begin + part * kKeys; first < mask.end; first += parts * kKeys)
    do_block(a, mask, group, first, std::min(kKeys, mask.end - first), s);
}

void compute_delta(const Args& a, float* delta) {
  const std::int64_t rows = a.batch * a.q_heads * a.q_len;
  const auto threads = static_cast<int>(std::clamp<std::int64_t>(
      rows / kDeltasOfThread, 1, std::min<std::int64_t>(a.num_threads, kMaxThreads)));
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
      do_head(a, {{n / a.kv_heads, n % a.kv_heads}, delta, nullptr}, 0, 1, scratch);
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
        do_head(a, {kv, delta, own[static_cast<std::size_t>(part)].get()}, part, threads, scratch);
      if (a.dq != nullptr) add_parts(a, kv, own);
    }
  }
}

/// The results of arguments that have been judged good.
void compute(const Args& a) {
  const Floats own_delta = floats(a.delta == nullptr ? a.batch * a.q_heads * a.q_len : 0);
  float* delta = a.delta != nullptr ? a.delta : own_delta.get();
  compute_delta(a, delta);
  if (a.dq == nullptr && a.dk == nullptr && a.dv == nullptr) return;
  const std::int64_t heads = a.batch * a.kv_heads;
  if (heads >= 4 * a.num_threads || heads % a.num_threads == 0) {
    heads_in_parallel(a, delta,
                      static_cast<int>(std::clamp<std::int64_t>(
                          heads, 1, std::min<std::int64_t>(a.num_threads, kMaxThreads))));
  } else {
    const std::int64_t blocks = std::max<std::int64_t>(1, (a.k_len + kKeys - 1) / kKeys);
    keys_in_parallel(a, delta,
                     static_cast<int>(std::min({std::int64_t{a.num_threads}, blocks, kMaxParts})));
  }
}

}  // namespace
}  // namespace attention

extern "C" int64_t flash_attention_backward(const FlashAttentionBackwardArgs* args) {
  const int64_t verdict = attention::judge(*args);
  if (verdict == FLASH_ATTENTION_OK) attention::compute(*args);
  return verdict;
}
