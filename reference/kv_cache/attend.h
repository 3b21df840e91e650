// SPDX-License-Identifier: Apache-2.0
#pragma once

// A block of rows on its way past the keys of one head: softmax with a running maximum.
#include <limits>
#include <vector>

#include "kernels.h"

constexpr int64_t kMaxRows = 32;    // of a block
constexpr int64_t kTileGroups = 4;  // of 16 keys, between two looks at the maximum
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Calls work.template operator()<rows>(first row) for 8, 4, 2 or 1 rows at a time.
template <class Work>
void for_row_packs(int64_t rows, Work work) {
  int64_t r = 0;
  for (; r + 8 <= rows; r += 8) work.template operator()<8>(r);
  if (r + 4 <= rows) work.template operator()<4>(r), r += 4;
  if (r + 2 <= rows) work.template operator()<2>(r), r += 2;
  if (r < rows) work.template operator()<1>(r);
}

// How many tokens of a head, in whole pages, come before those of the next head. Floats take no
// more than reading, which goes best in the order in which they lie; codes take work, which goes
// best by tiles.
inline int64_t stretch_of(const PageFormat& format) {
  const int64_t tokens = format.stored == KV_F32 ? kLanes : kTileGroups * kLanes;
  return divide_up(tokens, format.slots) * format.slots;
}

// Where the pages of a sequence are.
struct Pages {
  const char* pool;
  const int32_t* row;  // of the table

  const char* of(const PageFormat& format, int64_t token) const {
    return pool + row[token / format.slots] * format.bytes;
  }
};

class Block {
 public:
  Block(const PageFormat& format, int64_t head, int64_t rows)
      : format_(format), head_(head), rows_(rows) {
    direct_keys_ = format.slots % kLanes == 0;
    direct_values_ = direct_keys_ && format.value.dim % 32 == 0;
    if (format.stored != KV_F32)
      direct_values_ = direct_values_ && (format.group % 32 == 0 || format.value.groups == 1);
    if (format.stored == KV_INT4)
      direct_keys_ = direct_keys_ && format.group % 2 == 0 && format.key.dim % 2 == 0;
    padded_dim_ = divide_up(format.value.dim, kLanes) * kLanes;
    q_.resize(rows * format.key.dim);
    q_sums_.resize(rows * format.key.groups);
    out_.resize(rows * padded_dim_);
    least_sums_.resize(rows * format.value.groups);
    unpacked_.resize(kLanes * std::max(padded_dim_, format.key.dim));
    std::fill(top_, top_ + kMaxRows, -kInfinity);
  }

  // Row r is `query`, scaled, and sees the keys from begin to end - 1.
  void set_row(int64_t r, const float* query, float scale, int64_t begin, int64_t end) {
    const int64_t dim = format_.key.dim;
    for (int64_t d = 0; d < dim; ++d) {
      q_[r * dim + d] = query[d] * scale;
      if (format_.stored != KV_F32)
        q_sums_[r * format_.key.groups + d / format_.group] += query[d] * scale;
    }
    begin_[r] = begin;
    end_[r] = end;
  }

  // Takes in the keys from begin to end - 1, as far as rows see them. Those up to last_key - 1 are
  // next.
  void pass(const Pages& pages, int64_t begin, int64_t end, int64_t last_key) {
    Slots slots[kTileGroups];
    int64_t first[kTileGroups];
    int64_t groups = 0;
    for (int64_t token = begin; token < end;) {
      // From a multiple of 16 in the page, so that 16 lanes do not leave it.
      const int64_t slot = token % format_.slots / kLanes * kLanes;
      first[groups] = token - token % format_.slots + slot;
      const int64_t last = std::min({kLanes, format_.slots - slot, end - first[groups]});
      const int64_t ahead = token + stretch_of(format_);
      slots[groups] = {pages.of(format_, token),
                       ahead < last_key ? pages.of(format_, ahead) : nullptr,
                       head_,
                       slot,
                       token - first[groups],
                       last};
      token = first[groups] + last;
      if (++groups == kTileGroups || token >= end) {
        take_tile(slots, first, groups);
        groups = 0;
      }
    }
  }

  int64_t rows() const { return rows_; }
  float top(int64_t r) const { return top_[r]; }
  float weight(int64_t r) const { return total(weight_[r]); }

  // The sums of exp(score - top) * value of a row, added up.
  const float* values(int64_t r) {
    float* row = out_.data() + r * padded_dim_;
    for (int64_t g = 0; format_.stored == KV_INT4 && g < format_.value.groups; ++g) {
      Lanes& sums = least_sums_[r * format_.value.groups + g];
      const float share = total(sums);
      sums = Lanes{};
      const int64_t last = std::min(format_.value.dim, (g + 1) * format_.group);
      for (int64_t d = g * format_.group; d < last; ++d) row[d] += share;
    }
    return row;
  }

 private:
  void take_tile(const Slots* slots, const int64_t* first, int64_t groups) {
    for (int64_t i = 0; i < groups; ++i) score(slots[i], tile_[i]);
    for (int64_t r = 0; r < rows_; ++r) {
      Lanes top = lanes_of(top_[r]);
      for (int64_t i = 0; i < groups; ++i) {
        const int64_t low = std::clamp(begin_[r] - first[i], slots[i].begin, slots[i].end);
        const int64_t high = std::clamp(end_[r] - first[i], slots[i].begin, slots[i].end);
        const Ints seen = lanes_between(low, high);
        tile_[i][r] = select(seen, tile_[i][r], lanes_of(-kInfinity));
        top = larger(tile_[i][r], top);
      }
      weigh(r, largest(top), groups);
    }
    for (int64_t i = 0; i < groups; ++i) add(slots[i], tile_[i]);
  }

  void weigh(int64_t r, float top, int64_t groups) {
    if (top != top_[r]) {
      const float fade = std::exp(top_[r] - top);  // 0 for the first tile that the row sees
      weight_[r] *= fade;
      for (int64_t d = 0; d < padded_dim_; ++d) out_[r * padded_dim_ + d] *= fade;
      for (int64_t g = 0; g < format_.value.groups; ++g)
        least_sums_[r * format_.value.groups + g] *= fade;
      top_[r] = top;
    }
    const float origin = top == -kInfinity ? 0 : top;
    for (int64_t i = 0; i < groups; ++i) {
      tile_[i][r] = exp_lanes(tile_[i][r] - origin);
      weight_[r] += tile_[i][r];
    }
  }

  // Brings what follows on its way from memory, which by itself sees nothing coming: what lies
  // together of a head in a page is too short.
  [[gnu::always_inline]] void fetch(const Slots& slots, const Half& half) const {
    if (!slots.ahead) return;
    const int64_t some = std::min(format_.slots, kLanes) * format_.code_bytes(half.dim);
    const char* from = format_.codes(slots.ahead, half, head_) + slots.first / kLanes * some;
    for (int64_t at = 0; at < some; at += 64) __builtin_prefetch(from + at);
    for (int64_t g = 0; g < half.groups; ++g) {
      __builtin_prefetch(format_.steps(slots.ahead, half, head_, g) + slots.first);
      if (format_.stored == KV_INT4)
        __builtin_prefetch(format_.least(slots.ahead, half, head_, g) + slots.first);
    }
  }

  void score(const Slots& slots, Lanes* scores) {
    fetch(slots, format_.key);
    const int64_t dim = format_.key.dim;
    const float* floats = unpacked_.data();
    int64_t stride = kLanes;
    if (!direct_keys_) {
      for (int64_t d = 0; d < dim; ++d)
        for (int64_t j = slots.begin; j < slots.end; ++j)
          unpacked_[d * kLanes + j] =
              format_.decode(slots.page, format_.key, head_, slots.first + j, d);
    } else if (format_.stored == KV_F32) {
      stride = format_.slots;
      floats = reinterpret_cast<const float*>(format_.codes(slots.page, format_.key, head_)) +
               slots.first;
    }
    for_row_packs(rows_, [&]<int rows>(int64_t r) {
      if (!direct_keys_ || format_.stored == KV_F32)
        score_floats<rows>(floats, stride, dim, &q_[r * dim], scores + r);
      else if (format_.stored == KV_INT8)
        score_bytes<rows>(format_, slots, &q_[r * dim], scores + r);
      else
        score_nibbles<rows>(format_, slots, &q_[r * dim], &q_sums_[r * format_.key.groups],
                            scores + r);
    });
  }

  void add(const Slots& slots, const Lanes* weights) {
    fetch(slots, format_.value);
    const int64_t dim = format_.value.dim;
    const float* floats = unpacked_.data();
    int64_t stride = padded_dim_;
    if (!direct_values_) {
      for (int64_t j = slots.begin; j < slots.end; ++j)
        for (int64_t d = 0; d < dim; ++d)
          unpacked_[j * stride + d] =
              format_.decode(slots.page, format_.value, head_, slots.first + j, d);
    } else if (format_.stored == KV_F32) {
      stride = dim;
      floats = reinterpret_cast<const float*>(format_.codes(slots.page, format_.value, head_)) +
               slots.first * dim;
    }
    for_row_packs(rows_, [&]<int rows>(int64_t r) {
      if (!direct_values_ || format_.stored == KV_F32)
        add_float_values<rows>(floats, stride, padded_dim_, slots, weights + r,
                               &out_[r * padded_dim_]);
      else if (format_.stored == KV_INT8)
        add_byte_values<rows>(format_, slots, weights + r, &out_[r * padded_dim_]);
      else
        add_nibble_values<rows>(format_, slots, weights + r, &out_[r * padded_dim_],
                                &least_sums_[r * format_.value.groups]);
    });
  }

  const PageFormat& format_;
  int64_t head_;
  int64_t rows_;
  bool direct_keys_;  // kernels take keys as they lie in the page
  bool direct_values_;
  int64_t padded_dim_;         // of values, in whole lanes
  std::vector<float> q_;       // [rows][key_dim]
  std::vector<float> q_sums_;  // [rows][key groups]
  int64_t begin_[kMaxRows];
  int64_t end_[kMaxRows];
  float top_[kMaxRows];
  Lanes weight_[kMaxRows]{};
  std::vector<float> out_;             // [rows][padded_dim]
  std::vector<Lanes> least_sums_;      // [rows][value groups]
  std::vector<float> unpacked_;        // keys or values of 16 slots that no kernel takes
  Lanes tile_[kTileGroups][kMaxRows];  // scores, then weights
};
