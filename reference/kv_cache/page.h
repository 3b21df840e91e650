// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the bytes of a page mean. Everything of one kind lies together, slots innermost for keys and
// for steps, so that 16 tokens are 16 lanes of a vector:
//
//   key steps    [head][group][slot]   float; KV_INT4: least values follow, in the same order
//   value steps  [head][group][slot]   likewise
//   keys         [head][dim][slot]     KV_INT4: [head][dim / 2][slot], the even dimension low
//   values       [head][slot][dim]     KV_INT4: 32 dimensions in 16 bytes, the first 16 low
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include "contract.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

constexpr int64_t kLanes = 16;
constexpr int64_t kMaxDim = 256;
typedef float Lanes __attribute__((vector_size(64)));
typedef int32_t Ints __attribute__((vector_size(64)));
typedef uint8_t Bytes __attribute__((vector_size(16)));
typedef int8_t SignedBytes __attribute__((vector_size(16)));

template <class Vector>
inline Vector load(const void* from) {
  Vector vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

// Lane k of the result is lane k + `by` of `lanes`, counted around.
template <int by, std::size_t... k>
inline Lanes rotated(Lanes lanes, std::index_sequence<k...>) {
  return __builtin_shufflevector(lanes, lanes, ((k + by) % kLanes)...);
}

// All lanes joined two by two. Lane after lane would take as long as a whole vector's work.
template <class Join>
inline float joined(Lanes lanes, Join join) {
  constexpr auto all = std::make_index_sequence<kLanes>();
  lanes = join(lanes, rotated<8>(lanes, all));
  lanes = join(lanes, rotated<4>(lanes, all));
  lanes = join(lanes, rotated<2>(lanes, all));
  return join(lanes, rotated<1>(lanes, all))[0];
}

inline Lanes larger(Lanes a, Lanes b) {
  return a > b ? a : b;
}

inline float largest(Lanes lanes) {
  return joined(lanes, larger);
}

inline float total(Lanes lanes) {
  return joined(lanes, [](Lanes a, Lanes b) { return a + b; });
}

// Two rows of squares, 16 numbers wide each, dealt out by turns: the first halves, or the second.
template <class Row, int half, std::size_t... k>
inline Row dealt_half(Row a, Row b, std::index_sequence<k...>) {
  return __builtin_shufflevector(
      a, b, (k % 2 * sizeof...(k) + k / kLanes * kLanes + half * 8 + k % kLanes / 2)...);
}

// Squares of 16 rows of 16 numbers, side by side, turned. In each of four rounds, row i and row
// i + 8 are dealt out one number each by turns to rows 2 i and 2 i + 1: what was at [row][column]
// ends at [column][row]. The squares come out one below the other.
template <class Number, int squares>
inline void transpose(const Number* from, int64_t from_stride, Number* to, int64_t to_stride) {
  typedef Number Row __attribute__((vector_size(squares * kLanes * sizeof(Number))));
  constexpr auto all = std::make_index_sequence<squares * kLanes>();
  Row rows[kLanes];
  Row dealt[kLanes];
  for (int i = 0; i < kLanes; ++i) rows[i] = load<Row>(from + i * from_stride);
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 8; ++i) {
      dealt[2 * i] = dealt_half<Row, 0>(rows[i], rows[i + 8], all);
      dealt[2 * i + 1] = dealt_half<Row, 1>(rows[i], rows[i + 8], all);
    }
    std::memcpy(rows, dealt, sizeof rows);
  }
  for (int square = 0; square < squares; ++square)
    for (int i = 0; i < kLanes; ++i)
      std::memcpy(to + (square * kLanes + i) * to_stride,
                  reinterpret_cast<const Number*>(&rows[i]) + square * kLanes,
                  kLanes * sizeof(Number));
}

// Between bytes and wider lanes. GCC 12 takes the long way with __builtin_convertvector, and warns
// of its own header without the masks.
inline Ints ints_of_signed(const char* from) {
#if defined(__AVX512F__)
  return reinterpret_cast<Ints>(_mm512_maskz_cvtepi8_epi32(0xffff, load<__m128i>(from)));
#else
  return __builtin_convertvector(load<SignedBytes>(from), Ints);
#endif
}

inline Ints ints_of_unsigned(const char* from) {
#if defined(__AVX512F__)
  return reinterpret_cast<Ints>(_mm512_maskz_cvtepu8_epi32(0xffff, load<__m128i>(from)));
#else
  return __builtin_convertvector(load<Bytes>(from), Ints);
#endif
}

inline Bytes bytes_of(Ints lanes) {
#if defined(__AVX512F__)
  return reinterpret_cast<Bytes>(
      _mm512_maskz_cvtepi32_epi8(0xffff, reinterpret_cast<__m512i>(lanes)));
#else
  return __builtin_convertvector(lanes, Bytes);
#endif
}

inline Lanes floats_of(Ints lanes) {
  return __builtin_convertvector(lanes, Lanes);
}

// Of numbers from 0 on, as large as there are.
inline int64_t divide_up(int64_t value, int64_t by) {
  return value / by + (value % by != 0);
}

// Brings a vector on its way from memory. It may be one that is not there. GCC 12 takes a call of a
// function that does nothing else for one without effect, and drops it.
[[gnu::always_inline]] inline void fetch(const float* vector, int64_t dim) {
  for (int64_t d = 0; d < dim; d += kLanes) __builtin_prefetch(vector + d);
}

// One of the two halves of a token: its key or its value.
struct Half {
  int64_t dim;
  int64_t groups;
  int64_t steps_at;  // bytes from the start of a page
  int64_t codes_at;
};

struct PageFormat {
  int32_t stored;
  int64_t heads, slots, group;
  Half key, value;
  int64_t head_bytes;  // codes of a head: its keys, then its values
  int64_t bytes;

  explicit PageFormat(const KvShape& shape)
      : stored(shape.stored), heads(shape.kv_heads), slots(shape.page_tokens), group(shape.group) {
    int64_t used = 0;
    for (Half* half : {&key, &value}) {
      half->dim = half == &key ? shape.key_dim : shape.value_dim;
      half->groups = stored == KV_F32 ? 0 : divide_up(half->dim, group);
      half->steps_at = used;
      used += heads * half->groups * slots * (stored == KV_INT4 ? 8 : 4);
    }
    for (Half* half : {&key, &value}) {
      half->codes_at = used;
      used += slots * code_bytes(half->dim);
    }
    head_bytes = slots * (code_bytes(key.dim) + code_bytes(value.dim));
    used += (heads - 1) * head_bytes;
    bytes = divide_up(used, 64) * 64;
  }

  int64_t code_bytes(int64_t dim) const {
    return stored == KV_F32 ? 4 * dim : stored == KV_INT8 ? dim : divide_up(dim, 2);
  }

  const float* steps(const char* page, const Half& half, int64_t head, int64_t g) const {
    return reinterpret_cast<const float*>(page + half.steps_at) + (head * half.groups + g) * slots;
  }
  const float* least(const char* page, const Half& half, int64_t head, int64_t g) const {
    return steps(page, half, head, g) + heads * half.groups * slots;
  }

  const char* codes(const char* page, const Half& half, int64_t head) const {
    return page + half.codes_at + head * head_bytes;
  }

  // Dimensions whose values share bytes with those of `block` to `block` + 31: the first so many
  // are the low halves.
  int64_t low_values(int64_t block) const {
    return std::min<int64_t>(16, divide_up(value.dim - block, 2));
  }

  float decode(const char* page, const Half& half, int64_t head, int64_t slot, int64_t d) const {
    const char* base = codes(page, half, head);
    const bool is_key = &half == &key;
    const int64_t at = is_key ? d * slots + slot : slot * half.dim + d;
    if (stored == KV_F32) return load<float>(base + 4 * at);
    const float step = steps(page, half, head, d / group)[slot];
    if (stored == KV_INT8) return step * static_cast<float>(load<int8_t>(base + at));
    const float nibble =
        static_cast<float>(is_key ? key_nibble(base, slot, d) : value_nibble(base, slot, d));
    return std::fma(nibble, step, least(page, half, head, d / group)[slot]);
  }

  // `count` tokens from `slot` on, all on one side of a multiple of 16. x is the first one's
  // vector, the next one's is `stride` numbers behind it.
  void encode_keys(char* page, int64_t head, int64_t slot, int64_t count, const float* x,
                   int64_t stride) const {
    char* to = const_cast<char*>(codes(page, key, head));
    if (stored == KV_F32) {
      store_columns<float>(to, slot, count, x, stride, key.dim);
      return;
    }
    uint8_t bytes[kLanes][kRowBytes];
    for (int64_t j = 0; j < count; ++j) {
      fetch(x + (j + kLanes) * stride, key.dim);
      make_codes(page, key, head, slot + j, x + j * stride, bytes[j]);
      if (stored == KV_INT4) join_pairs(bytes[j], code_bytes(key.dim));
    }
    store_columns<uint8_t>(to, slot, count, bytes[0], kRowBytes, code_bytes(key.dim));
  }

  void encode_value(char* page, int64_t head, int64_t slot, const float* x) const {
    char* to = const_cast<char*>(codes(page, value, head)) + slot * code_bytes(value.dim);
    if (stored == KV_F32) {
      std::memcpy(to, x, 4 * value.dim);
      return;
    }
    uint8_t bytes[kRowBytes];
    make_codes(page, value, head, slot, x, bytes);
    if (stored == KV_INT8) std::memcpy(to, bytes, value.dim);
    if (stored == KV_INT4) store_value_nibbles(to, bytes);
  }

 private:
  static constexpr int64_t kRowBytes = kMaxDim + 64;  // codes of a vector, and zeros behind them

  int key_nibble(const char* base, int64_t slot, int64_t d) const {
    return (load<uint8_t>(base + d / 2 * slots + slot) >> (d % 2 * 4)) & 15;
  }

  int value_nibble(const char* base, int64_t slot, int64_t d) const {
    const int64_t block = d / 32 * 32;
    const int64_t low = low_values(block);
    const bool is_low = d - block < low;
    const int64_t at = slot * code_bytes(value.dim) + block / 2 + d - block - (is_low ? 0 : low);
    return (load<uint8_t>(base + at) >> (is_low ? 0 : 4)) & 15;
  }

  // Two codes a byte, the even ones low.
  static void join_pairs(uint8_t* code, int64_t bytes) {
    for (int64_t i = 0; i < bytes; i += kLanes) {
      const Bytes a = load<Bytes>(code + 2 * i);
      const Bytes b = load<Bytes>(code + 2 * i + kLanes);
      const Bytes even =
          __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
      const Bytes odd =
          __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
      const Bytes both = even | odd << 4;
      std::memcpy(code + i, &both, sizeof both);
    }
  }

  void store_value_nibbles(char* row, const uint8_t* code) const {
    for (int64_t block = 0; block < value.dim; block += 32) {
      const int64_t low = low_values(block);
      const Bytes both = load<Bytes>(code + block) | load<Bytes>(code + block + low) << 4;
      std::memcpy(row + block / 2, &both, static_cast<std::size_t>(low));
    }
  }

  // Rows of `columns` numbers become columns of the page: number d of row j goes to [d][slot + j].
  template <class Number>
  void store_columns(char* to, int64_t slot, int64_t count, const Number* rows, int64_t stride,
                     int64_t columns) const {
    Number* first = reinterpret_cast<Number*>(to) + slot;
    int64_t d = 0;
    if (count == kLanes) {
      constexpr int kSquares = 64 / (kLanes * sizeof(Number));
      for (; d + kSquares * kLanes <= columns; d += kSquares * kLanes)
        transpose<Number, kSquares>(rows + d, stride, first + d * slots, slots);
      for (; d + kLanes <= columns; d += kLanes)
        transpose<Number, 1>(rows + d, stride, first + d * slots, slots);
    }
    for (; d < columns; ++d)
      for (int64_t j = 0; j < count; ++j) first[d * slots + j] = rows[j * stride + d];
  }

  // Codes of a vector, a byte each, and its steps. Zeros follow.
  void make_codes(char* page, const Half& half, int64_t head, int64_t slot, const float* x,
                  uint8_t* code) const {
    std::memset(code + half.dim, 0, 64);
    for (int64_t g = 0; g < half.groups; ++g) encode_group(page, half, head, slot, g, x, code);
  }

  struct Range {
    float low, high;
  };

  static Range range_of(const float* x, int64_t count) {
    Range range{x[0], x[0]};
    int64_t d = 0;
    if (count >= kLanes) {
      Lanes lows = load<Lanes>(x);
      Lanes highs = lows;
      for (d = kLanes; d + kLanes <= count; d += kLanes) {
        const Lanes lanes = load<Lanes>(x + d);
        lows = lanes < lows ? lanes : lows;
        highs = larger(lanes, highs);
      }
      range = {-largest(-lows), largest(highs)};
    }
    for (; d < count; ++d) range = {std::min(range.low, x[d]), std::max(range.high, x[d])};
    return range;
  }

  void encode_group(char* page, const Half& half, int64_t head, int64_t slot, int64_t g,
                    const float* x, uint8_t* code) const {
    const int64_t begin = g * group;
    const int64_t end = std::min(half.dim, begin + group);
    const auto [low, high] = range_of(x + begin, end - begin);
    const bool small = stored == KV_INT4;
    float step = small ? (high - low) / 15 : std::max(-low, high) / 127;
    // A smaller step has no reciprocal: such a group is as good as constant.
    if (step < 1e-36f) step = 0;
    const float inverse = step > 0 ? 1 / step : 0;
    const_cast<float*>(steps(page, half, head, g))[slot] = step;
    if (small) const_cast<float*>(least(page, half, head, g))[slot] = low;
    const float zero = small ? low : 0;
    int64_t d = begin;
    for (; d + kLanes <= end; d += kLanes) {
      // Adding 1.5 * 2^23 rounds to an integer.
      // What passes the last code does so by less than half a step, and rounds to it.
      const Lanes exact = (load<Lanes>(x + d) - zero) * inverse;
      const Lanes rounded = (exact + 12582912.0f) - 12582912.0f;
      const Bytes codes = bytes_of(__builtin_convertvector(rounded, Ints));
      std::memcpy(code + d, &codes, sizeof codes);
    }
    for (; d < end; ++d) {
      const float rounded = std::nearbyint((x[d] - zero) * inverse);
      code[d] = static_cast<uint8_t>(static_cast<int32_t>(rounded));
    }
  }
};
