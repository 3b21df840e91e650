// SPDX-License-Identifier: Apache-2.0
#include "arguments.h"

#include <cmath>
#include <cstdint>
#include <initializer_list>

namespace attention {
namespace {

using Args = FlashAttentionBackwardArgs;

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

int64_t judge(const Args& a) {
  if (a.abi_version != FLASH_ATTENTION_ABI_VERSION || a.device != FLASH_ATTENTION_HOST ||
      a.data_type != FLASH_ATTENTION_F32)
    return FLASH_ATTENTION_UNSUPPORTED;
  return good(a) ? FLASH_ATTENTION_OK : FLASH_ATTENTION_BAD_ARGUMENT;
}

}  // namespace attention
