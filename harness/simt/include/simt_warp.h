// SPDX-License-Identifier: Apache-2.0
// Warp shuffles, votes, matches and reductions, and barriers of a block or warp.
#pragma once

#include <simt_qualifiers.h>

SIMT_DEVICE void __syncwarp(unsigned int mask = 0xffffffffu) {
  __nvvm_bar_warp_sync(mask);
}
SIMT_DEVICE int __syncthreads_count(int predicate) {
  return __nvvm_bar0_popc(predicate);
}
SIMT_DEVICE int __syncthreads_and(int predicate) {
  return __nvvm_bar0_and(predicate);
}
SIMT_DEVICE int __syncthreads_or(int predicate) {
  return __nvvm_bar0_or(predicate);
}

SIMT_DEVICE void __threadfence_block() {
  __nvvm_membar_cta();
}
SIMT_DEVICE void __threadfence() {
  __nvvm_membar_gl();
}
SIMT_DEVICE void __threadfence_system() {
  __nvvm_membar_sys();
}

SIMT_DEVICE unsigned int __activemask() {
  return __nvvm_activemask();
}
SIMT_DEVICE int __all_sync(unsigned int mask, int p) {
  return __nvvm_vote_all_sync(mask, p != 0);
}
SIMT_DEVICE int __any_sync(unsigned int mask, int p) {
  return __nvvm_vote_any_sync(mask, p != 0);
}
SIMT_DEVICE int __uni_sync(unsigned int mask, int p) {
  return __nvvm_vote_uni_sync(mask, p != 0);
}
SIMT_DEVICE unsigned int __ballot_sync(unsigned int mask, int p) {
  return __nvvm_vote_ballot_sync(mask, p != 0);
}

namespace simt {

/// Calls move(word) for each 32-bit word of a value of 4 or 8 bytes, or of one of 2 in a word.
template <class T, class Move>
SIMT_DEVICE T by_words(T value, Move move) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8,
                "a value that lanes exchange has 2, 4 or 8 bytes");
  int words[(sizeof(T) + 3) / 4] = {};
  __builtin_memcpy(words, &value, sizeof(T));
  for (int& word : words) word = move(word);
  __builtin_memcpy(&value, words, sizeof(T));
  return value;
}

SIMT_DEVICE int segment(int width) {
  return (32 - width) << 8;
}

}  // namespace simt

template <class T>
SIMT_DEVICE T __shfl_sync(unsigned int mask, T value, int lane, int width = 32) {
  return simt::by_words(
      value, [=](int word) __attribute__((device, always_inline, nodebug)) {
        return __nvvm_shfl_sync_idx_i32(mask, word, lane, simt::segment(width) | 31);
      });
}
template <class T>
SIMT_DEVICE T __shfl_up_sync(unsigned int mask, T value, unsigned int delta, int width = 32) {
  return simt::by_words(
      value, [=](int word) __attribute__((device, always_inline, nodebug)) {
        return __nvvm_shfl_sync_up_i32(mask, word, delta, simt::segment(width));
      });
}
template <class T>
SIMT_DEVICE T __shfl_down_sync(unsigned int mask, T value, unsigned int delta, int width = 32) {
  return simt::by_words(
      value, [=](int word) __attribute__((device, always_inline, nodebug)) {
        return __nvvm_shfl_sync_down_i32(mask, word, delta, simt::segment(width) | 31);
      });
}
template <class T>
SIMT_DEVICE T __shfl_xor_sync(unsigned int mask, T value, int lanes, int width = 32) {
  return simt::by_words(
      value, [=](int word) __attribute__((device, always_inline, nodebug)) {
        return __nvvm_shfl_sync_bfly_i32(mask, word, lanes, simt::segment(width) | 31);
      });
}

template <class T>
SIMT_DEVICE unsigned int __match_any_sync(unsigned int mask, T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "values that are matched have 4 or 8 bytes");
  if constexpr (sizeof(T) == 4)
    return __nvvm_match_any_sync_i32(mask, __builtin_bit_cast(unsigned int, value));
  else
    return __nvvm_match_any_sync_i64(mask, __builtin_bit_cast(unsigned long long, value));
}
template <class T>
SIMT_DEVICE unsigned int __match_all_sync(unsigned int mask, T value, int* all) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "values that are matched have 4 or 8 bytes");
  if constexpr (sizeof(T) == 4)
    return __nvvm_match_all_sync_i32p(mask, __builtin_bit_cast(unsigned int, value), all);
  else
    return __nvvm_match_all_sync_i64p(mask, __builtin_bit_cast(unsigned long long, value), all);
}

SIMT_DEVICE unsigned int __reduce_add_sync(unsigned int mask, unsigned int value) {
  return __nvvm_redux_sync_add(value, mask);
}
SIMT_DEVICE int __reduce_add_sync(unsigned int mask, int value) {
  return __nvvm_redux_sync_add(value, mask);
}
SIMT_DEVICE unsigned int __reduce_min_sync(unsigned int mask, unsigned int value) {
  return __nvvm_redux_sync_umin(value, mask);
}
SIMT_DEVICE int __reduce_min_sync(unsigned int mask, int value) {
  return __nvvm_redux_sync_min(value, mask);
}
SIMT_DEVICE unsigned int __reduce_max_sync(unsigned int mask, unsigned int value) {
  return __nvvm_redux_sync_umax(value, mask);
}
SIMT_DEVICE int __reduce_max_sync(unsigned int mask, int value) {
  return __nvvm_redux_sync_max(value, mask);
}
SIMT_DEVICE unsigned int __reduce_and_sync(unsigned int mask, unsigned int value) {
  return __nvvm_redux_sync_and(value, mask);
}
SIMT_DEVICE unsigned int __reduce_or_sync(unsigned int mask, unsigned int value) {
  return __nvvm_redux_sync_or(value, mask);
}
SIMT_DEVICE unsigned int __reduce_xor_sync(unsigned int mask, unsigned int value) {
  return __nvvm_redux_sync_xor(value, mask);
}
