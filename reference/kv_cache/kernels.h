// SPDX-License-Identifier: Apache-2.0
#pragma once

// Kernels of attention over pages, for a few rows at a time. A row is one head of one query; the
// rows of a block read the same keys, and are worked on together so that a key is loaded once for
// all.
//
// Scores are made for 16 keys in 16 lanes: keys lie in pages with the token innermost, a dimension
// of a row is broadcast, and nothing is ever summed across lanes. Values are added the other way
// round, 16 dimensions in 16 lanes.
#include "page.h"

inline Lanes lanes_of(float value) {
  return value - Lanes{};
}

inline Ints lanes_between(int64_t begin, int64_t end) {
  const Ints lane{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return (lane >= static_cast<int32_t>(begin)) & (lane < static_cast<int32_t>(end));
}

inline Lanes select(Ints mask, Lanes yes, Lanes no) {
  return reinterpret_cast<Lanes>((reinterpret_cast<Ints>(yes) & mask) |
                                 (reinterpret_cast<Ints>(no) & ~mask));
}

// exp for x <= 0, to 1 ulp; 0 below -87, where floats end. The polynomial is that of Cephes' expf.
inline Lanes exp_lanes(Lanes x) {
  const Ints visible = x > lanes_of(-87.0f);
  x = select(visible, x, Lanes{});
  const Lanes shift = lanes_of(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer
  const Lanes shifted = x * 1.44269504088896341f + shift;
  const Lanes whole = shifted - shift;
  x = x - whole * 0.693359375f;
  x = x + whole * 2.12194440e-4f;
  Lanes p = lanes_of(1.9875691500e-4f);
  p = p * x + 1.3981999507e-3f;
  p = p * x + 8.3334519073e-3f;
  p = p * x + 4.1665795894e-2f;
  p = p * x + 1.6666665459e-1f;
  p = p * x + 5.0000001201e-1f;
  p = p * (x * x) + x + 1.0f;
  const Ints exponent = __builtin_convertvector(whole, Ints) << 23;
  p = reinterpret_cast<Lanes>(reinterpret_cast<Ints>(p) + exponent);
  return select(visible, p, Lanes{});
}

// 16 neighbouring slots of a page, or fewer at its end.
struct Slots {
  const char* page;
  const char* ahead;  // a page that is needed soon after, or null
  int64_t head;
  int64_t first;
  int64_t begin;  // those of interest, counted from first
  int64_t end;
};

// sums[r] = sum over d from begin to end - 1 of q[r][d] * key(d), for 16 keys. Few rows are summed
// in several chains, or each product would wait for the one before.
template <int rows, class Key>
void sum_products(const float* q, int64_t q_stride, int64_t begin, int64_t end, Key key,
                  Lanes* sums) {
  constexpr int kChains = rows >= 8 ? 1 : 8 / rows;
  Lanes chains[kChains][rows];
  for (int c = 0; c < kChains; ++c)
    for (int r = 0; r < rows; ++r) chains[c][r] = Lanes{};
  int64_t d = begin;
  for (; d + kChains <= end; d += kChains)
    for (int c = 0; c < kChains; ++c) {
      const Lanes lanes = key(d + c);
      for (int r = 0; r < rows; ++r) chains[c][r] += lanes * q[r * q_stride + d + c];
    }
  for (; d < end; ++d) {
    const Lanes lanes = key(d);
    for (int r = 0; r < rows; ++r) chains[0][r] += lanes * q[r * q_stride + d];
  }
  for (int c = 1; c < kChains; ++c)
    for (int r = 0; r < rows; ++r) chains[0][r] += chains[c][r];
  for (int r = 0; r < rows; ++r) sums[r] = chains[0][r];
}

template <int rows>
void score_floats(const float* keys, int64_t key_stride, int64_t dim, const float* q, Lanes* out) {
  const auto key = [=](int64_t d) { return load<Lanes>(keys + d * key_stride); };
  sum_products<rows>(q, dim, 0, dim, key, out);
}

template <int rows>
void score_bytes(const PageFormat& format, const Slots& slots, const float* q, Lanes* out) {
  const Half& half = format.key;
  const char* codes = format.codes(slots.page, half, slots.head) + slots.first;
  const int64_t stride = format.slots;
  const auto key = [=](int64_t d) { return floats_of(ints_of_signed(codes + d * stride)); };
  for (int r = 0; r < rows; ++r) out[r] = Lanes{};
  for (int64_t g = 0; g < half.groups; ++g) {
    Lanes sums[rows];
    const int64_t end = std::min(half.dim, (g + 1) * format.group);
    sum_products<rows>(q, half.dim, g * format.group, end, key, sums);
    const Lanes step = load<Lanes>(format.steps(slots.page, half, slots.head, g) + slots.first);
    for (int r = 0; r < rows; ++r) out[r] += step * sums[r];
  }
}

// Groups of even size only. The least value of a group meets the sum of q over it.
template <int rows>
void score_nibbles(const PageFormat& format, const Slots& slots, const float* q,
                   const float* q_sums, Lanes* out) {
  const Half& half = format.key;
  const char* codes = format.codes(slots.page, half, slots.head) + slots.first;
  const int64_t stride = format.slots;
  for (int r = 0; r < rows; ++r) out[r] = Lanes{};
  for (int64_t g = 0; g < half.groups; ++g) {
    Lanes even_sums[rows];
    Lanes odd_sums[rows];
    for (int r = 0; r < rows; ++r) even_sums[r] = odd_sums[r] = Lanes{};
    const int64_t end = std::min(half.dim, (g + 1) * format.group);
    for (int64_t d = g * format.group; d < end; d += 2) {
      const Ints both = ints_of_unsigned(codes + d / 2 * stride);
      const Lanes even = floats_of(both & 15);
      const Lanes odd = floats_of(both >> 4);
      for (int r = 0; r < rows; ++r) {
        even_sums[r] += even * q[r * half.dim + d];
        odd_sums[r] += odd * q[r * half.dim + d + 1];
      }
    }
    const Lanes step = load<Lanes>(format.steps(slots.page, half, slots.head, g) + slots.first);
    const Lanes least = load<Lanes>(format.least(slots.page, half, slots.head, g) + slots.first);
    for (int r = 0; r < rows; ++r)
      out[r] += step * (even_sums[r] + odd_sums[r]) + least * q_sums[r * half.groups + g];
  }
}

// out[r][d] += sum over the slots of interest of weights[r][j] * values[j][d]. Dimensions are done
// `wide` times 16 at a time; `value(j, d)` gives those from d on. Few sums are several chains, as
// above.
template <int rows, int wide, class Value>
void add_values(const Lanes* weights, const Slots& slots, int64_t begin, int64_t end, float* out,
                int64_t out_stride, Value value) {
  constexpr int kChains = rows * wide >= 8 ? 1 : 8 / (rows * wide);
  for (int64_t d = begin; d < end; d += wide * kLanes) {
    Lanes sums[kChains][rows][wide];
    const auto add = [&](int chain, int64_t j) {
      Lanes row[wide];
      value(j, d, row);
      for (int r = 0; r < rows; ++r)
        for (int w = 0; w < wide; ++w) sums[chain][r][w] += row[w] * weights[r][j];
    };
    for (int c = 0; c < kChains; ++c)
      for (int r = 0; r < rows; ++r)
        for (int w = 0; w < wide; ++w)
          sums[c][r][w] = c == 0 ? load<Lanes>(out + r * out_stride + d + w * kLanes) : Lanes{};
    int64_t j = slots.begin;
    for (; j + kChains <= slots.end; j += kChains)
      for (int c = 0; c < kChains; ++c) add(c, j + c);
    for (; j < slots.end; ++j) add(0, j);
    for (int c = 1; c < kChains; ++c)
      for (int r = 0; r < rows; ++r)
        for (int w = 0; w < wide; ++w) sums[0][r][w] += sums[c][r][w];
    for (int r = 0; r < rows; ++r)
      for (int w = 0; w < wide; ++w)
        std::memcpy(out + r * out_stride + d + w * kLanes, &sums[0][r][w], sizeof(Lanes));
  }
}

template <int rows>
void add_float_values(const float* values, int64_t value_stride, int64_t padded_dim,
                      const Slots& slots, const Lanes* weights, float* out) {
  const int64_t pairs = padded_dim / 32 * 32;
  const auto two = [=](int64_t j, int64_t d, Lanes* row) {
    row[0] = load<Lanes>(values + j * value_stride + d);
    row[1] = load<Lanes>(values + j * value_stride + d + kLanes);
  };
  const auto one = [=](int64_t j, int64_t d, Lanes* row) {
    row[0] = load<Lanes>(values + j * value_stride + d);
  };
  add_values<rows, 2>(weights, slots, 0, pairs, out, padded_dim, two);
  add_values<rows, 1>(weights, slots, pairs, padded_dim, out, padded_dim, one);
}

// Value dimensions and groups that are multiples of 32 only (or a single group), as with nibbles.
template <int rows>
void add_byte_values(const PageFormat& format, const Slots& slots, const Lanes* weights,
                     float* out) {
  const Half& half = format.value;
  const char* codes = format.codes(slots.page, half, slots.head) + slots.first * half.dim;
  const auto two = [&](int64_t j, int64_t d, Lanes* row) {
    for (int w = 0; w < 2; ++w)
      row[w] = floats_of(ints_of_signed(codes + j * half.dim + d + w * kLanes));
  };
  for (int64_t g = 0; g < half.groups; ++g) {
    const Lanes step = load<Lanes>(format.steps(slots.page, half, slots.head, g) + slots.first);
    Lanes scaled[rows];
    for (int r = 0; r < rows; ++r) scaled[r] = weights[r] * step;
    const int64_t end = std::min(half.dim, (g + 1) * format.group);
    add_values<rows, 2>(scaled, slots, g * format.group, end, out, half.dim, two);
  }
}

// least_sums[r][g] gathers, lane by lane, what is the same for all dimensions of a group.
template <int rows>
void add_nibble_values(const PageFormat& format, const Slots& slots, const Lanes* weights,
                       float* out, Lanes* least_sums) {
  const Half& half = format.value;
  const int64_t row_bytes = half.dim / 2;
  const char* codes = format.codes(slots.page, half, slots.head) + slots.first * row_bytes;
  const auto two = [&](int64_t j, int64_t d, Lanes* row) {
    const Ints both = ints_of_unsigned(codes + j * row_bytes + d / 2);
    row[0] = floats_of(both & 15);
    row[1] = floats_of(both >> 4);
  };
  const Ints holds = lanes_between(slots.begin, slots.end);
  for (int64_t g = 0; g < half.groups; ++g) {
    const Lanes step = load<Lanes>(format.steps(slots.page, half, slots.head, g) + slots.first);
    const Lanes least = load<Lanes>(format.least(slots.page, half, slots.head, g) + slots.first);
    Lanes scaled[rows];
    for (int r = 0; r < rows; ++r) {
      scaled[r] = weights[r] * step;
      least_sums[r * half.groups + g] += weights[r] * select(holds, least, Lanes{});
    }
    const int64_t end = std::min(half.dim, (g + 1) * format.group);
    add_values<rows, 2>(scaled, slots, g * format.group, end, out, half.dim, two);
  }
}
