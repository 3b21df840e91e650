// SPDX-License-Identifier: Apache-2.0
// What every variant refuses. Nothing here has external linkage: a self test is loaded beside a
// variant, and may have names like these.
#pragma once

#include <algorithm>

#include "contract.h"

namespace {

int64_t shape_status(const KvShape& s) {
  if (s.abi_version != KV_ABI_VERSION || s.device != KV_HOST) return KV_UNSUPPORTED;
  if (s.stored != KV_F32 && s.stored != KV_INT8 && s.stored != KV_INT4) return KV_UNSUPPORTED;
  if (s.kv_heads < 1 || s.key_dim < 1 || s.value_dim < 1 || s.page_tokens < 1 || s.group < 1)
    return KV_BAD_ARGUMENT;
  if (s.pages < 0 || s.sequences < 0 || s.table_width < 0 || s.num_threads < 1)
    return KV_BAD_ARGUMENT;
  return KV_OK;
}

bool exists(const KvShape& s, int64_t sequence) {
  return sequence >= 0 && sequence < s.sequences;
}

bool good_lists(const KvShape& s, int64_t count, const int64_t* which, const int64_t* start) {
  if (count < 0) return false;
  for (int64_t i = 0; i < count; ++i)
    if (!exists(s, which[i]) || start[i] > start[i + 1]) return false;
  return true;
}

// The rest takes a good shape for granted.

bool bad(const KvAppendArgs& a) {
  return !good_lists(a.shape, a.count, a.which, a.new_start);
}

bool bad(const KvForkArgs& a) {
  return !exists(a.shape, a.from) || !exists(a.shape, a.to) || a.from == a.to ||
         a.lengths[a.to] > 0;
}

bool bad(const KvTruncateArgs& a) {
  return !exists(a.shape, a.sequence) || a.length < 0 || a.length > a.lengths[a.sequence];
}

bool bad(const KvReadArgs& a) {
  return !exists(a.shape, a.sequence) || a.begin < 0 || a.tokens < 0 ||
         a.tokens > a.lengths[a.sequence] - a.begin;
}

bool bad(const KvAttendArgs& a) {
  if (!good_lists(a.shape, a.count, a.which, a.query_start)) return true;
  if (a.q_heads < 1 || a.q_heads % a.shape.kv_heads != 0 || a.window < -1) return true;
  for (int64_t i = 0; i < a.count; ++i) {
    const int64_t length = a.lengths[a.which[i]];
    const int64_t begin = a.key_begin ? a.key_begin[i] : 0;
    const int64_t end = a.key_end ? a.key_end[i] : length;
    if (begin < 0 || end > length || begin > end) return true;
  }
  return false;
}

bool bad(const KvMergeArgs& a) {
  return a.parts < 0 || a.rows < 0 || a.value_dim < 1 || a.num_threads < 1;
}

bool unsupported(const KvMergeArgs& a) {
  return a.abi_version != KV_ABI_VERSION || a.device != KV_HOST;
}

}  // namespace
