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

// 16 rows of 16 numbers, turned. In each of four rounds, row i and row i + 8 are dealt out one
// number each by turns to rows 2 i and 2 i + 1: what was at [row][column] ends at [column][row].
template <class Number>
inline void transpose(const Number* from, int64_t from_stride, Number* to, int64_t to_stride) {
  typedef Number Row __attribute__((vector_size(kLanes * sizeof(Number))));
  Row rows[kLanes];
  Row dealt[kLanes];
  for (int i = 0; i < kLanes; ++i) rows[i] = load<Row>(from + i * from_stride);
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 8; ++i) {
      dealt[2 * i] = __builtin_shufflevector(rows[i], rows[i + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4,
                                             20, 5, 21, 6, 22, 7, 23);
      dealt[2 * i + 1] = __builtin_shufflevector(rows[i], rows[i + 8], 8, 24, 9, 25, 10, 26, 11, 27,
                                                 12, 28, 13, 29, 14, 30, 15, 31);
    }
    std::memcpy(rows, dealt, sizeof rows);
  }
  for (int i = 0; i < kLanes; ++i) std::memcpy(to + i * to_stride, &rows[i], sizeof(Row));
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
    uint8_t bytes[kLanes][kMaxDim + 1];
    for (int64_t j = 0; j < count; ++j) {
      make_codes(page, key, head, slot + j, x + j * stride, bytes[j]);
      for (int64_t d = 0; stored == KV_INT4 && d < key.dim; d += 2)
        bytes[j][d / 2] = static_cast<uint8_t>(bytes[j][d] | bytes[j][d + 1] << 4);
    }
    store_columns<uint8_t>(to, slot, count, bytes[0], kMaxDim + 1, code_bytes(key.dim));
  }

  void encode_value(char* page, int64_t head, int64_t slot, const float* x) const {
    char* to = const_cast<char*>(codes(page, value, head)) + slot * code_bytes(value.dim);
    if (stored == KV_F32) {
      std::memcpy(to, x, 4 * value.dim);
      return;
    }
    uint8_t bytes[kMaxDim + 1];
    make_codes(page, value, head, slot, x, bytes);
    if (stored == KV_INT8) std::memcpy(to, bytes, value.dim);
    if (stored == KV_INT4) store_value_nibbles(to, bytes);
  }

 private:
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

  void store_value_nibbles(char* row, const uint8_t* code) const {
    for (int64_t block = 0; block < value.dim; block += 32) {
      const int64_t low = low_values(block);
      for (int64_t i = 0; i < low; ++i) {
        const int high = block + low + i < value.dim ? code[block + low + i] : 0;
        row[block / 2 + i] = static_cast<char>(code[block + i] | high << 4);
      }
    }
  }

  // Rows of `columns` numbers become columns of the page: number d of row j goes to [d][slot + j].
  template <class Number>
  void store_columns(char* to, int64_t slot, int64_t count, const Number* rows, int64_t stride,
                     int64_t columns) const {
    Number* first = reinterpret_cast<Number*>(to) + slot;
    int64_t d = 0;
    for (; count == kLanes && d + kLanes <= columns; d += kLanes)
      transpose(rows + d, stride, first + d * slots, slots);
    for (; d < columns; ++d)
      for (int64_t j = 0; j < count; ++j) first[d * slots + j] = rows[j * stride + d];
  }

  // Codes of a vector, a byte each, and its steps. One more is zero, for pairs of an odd number.
  void make_codes(char* page, const Half& half, int64_t head, int64_t slot, const float* x,
                  uint8_t* code) const {
    code[half.dim] = 0;
    for (int64_t g = 0; g < half.groups; ++g) encode_group(page, half, head, slot, g, x, code);
  }

  void encode_group(char* page, const Half& half, int64_t head, int64_t slot, int64_t g,
                    const float* x, uint8_t* code) const {
    const int64_t begin = g * group;
    const int64_t end = std::min(half.dim, begin + group);
    float low = x[begin];
    float high = x[begin];
    int64_t d = begin;
    if (end - begin >= kLanes) {
      Lanes lows = load<Lanes>(x + d);
      Lanes highs = lows;
      for (d += kLanes; d + kLanes <= end; d += kLanes) {
        const Lanes lanes = load<Lanes>(x + d);
        lows = lanes < lows ? lanes : lows;
        highs = lanes > highs ? lanes : highs;
      }
      for (int64_t k = 0; k < kLanes; ++k) {
        low = std::min(low, lows[k]);
        high = std::max(high, highs[k]);
      }
    }
    for (; d < end; ++d) {
      low = std::min(low, x[d]);
      high = std::max(high, x[d]);
    }
    const bool small = stored == KV_INT4;
    float step = small ? (high - low) / 15 : std::max(-low, high) / 127;
    // A smaller step has no reciprocal: such a group is as good as constant.
    if (step < 1e-36f) step = 0;
    const float inverse = step > 0 ? 1 / step : 0;
    const_cast<float*>(steps(page, half, head, g))[slot] = step;
    if (small) const_cast<float*>(least(page, half, head, g))[slot] = low;
    const float zero = small ? low : 0;
    d = begin;
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
