#pragma once

#include <stddef.h>
#include <stdint.h>

/* Masked scaled-dot-product attention, computed tile by tile: no matrix of scores is ever stored.
 *
 * For every batch entry b, query head h and query i, with g = h / (q_heads / kv_heads) the key and
 * value head that h reads:
 *
 *   s[j]  = scale * sum_d q[b][h][i][d] * k[b][g][j][d]
 *   s[j]  = softcap * tanh(s[j] / softcap)                    when softcap > 0
 *   lse[b][h][i] = ln sum_j exp(s[j])                         natural logarithm
 *   o[b][h][i]   = sum_j exp(s[j] - lse[b][h][i]) * v[b][g][j]
 *
 * where j runs over the keys that query i sees.
 *
 * WHICH KEYS A QUERY SEES. With start = kv_start[b] (0 where kv_start is null) and len = kv_len[b]
 * (k_len - start where kv_len is null), the keys start <= j < start + len exist in batch entry b.
 * The last query stands at the last existing key: query i stands at
 *
 *   p = i + (start + len) - q_len                             which may be negative
 *
 * ("bottom-right" alignment; for q_len = len = k_len that is p = i). Query i sees an existing key j
 * if
 *
 *   causal == 0         or  j <= p
 *   window_left == -1   or  j >= p - window_left
 *   window_right == -1  or  j <= p + window_right
 *
 * all hold. Both ends of a window are included. A query that sees no key has o = 0 and lse = -inf;
 * len may be 0, then no query of that batch entry sees any.
 *
 * Source: Dao et al. 2022, "FlashAttention"; Dao 2023, "FlashAttention-2". Alignment, windows and
 * left padding are those of the flash-attention library since 2.1; lse of an empty row is -inf as
 * in FlashAttention-3.
 *
 * LAYOUT. A tensor is addressed by three strides, counted in elements; the elements of a row are
 * adjacent:
 *
 *   q[b][h][i][d] is at q + b * q_batch_stride + h * q_head_stride + i * q_row_stride + d
 *
 * and likewise k, v and o. That covers [batch][head][row][dim], [batch][row][head][dim], heads
 * taken out of a packed projection and, with a stride of 0, keys and values that several heads or
 * batch entries share. Strides are >= 0: that of a dimension of 1 may be any such number, and rows
 * of q, k and v may overlap or be one. What lies between rows is not part of a tensor: it may hold
 * anything, NaN included, and must not be written. Rows of o do not overlap. lse is dense
 * [batch][q_heads][q_len]. o and lse overlap nothing; q, k and v may overlap each other.
 *
 * ALIGNMENT. q, k, v, o and lse are multiples of min_align bytes, which is a power of two and at
 * least the size of an element. Nothing follows for the rows after the first.
 *
 * VALUES. o and lse hold garbage at first and are overwritten. Inputs must not be written. Keys
 * that do not exist may hold anything, NaN included, and change nothing; they may be read. All
 * other elements are finite; |v|, summed over the keys, and the products |scale q|, |q k| and
 * |scale q k|, summed over d, stay below 1e36. Scores may have any sign and size within that: a
 * row's scores may all be -1e30 or differ by 1e6. scale is any finite number, also 0 or negative.
 *
 * ACCURACY. Results are compared element by element with the formulas in float64 on the same
 * float32 inputs. With u = 2^-24 and, over the keys j that the row sees,
 *
 *   P[j] = exp(s[j] - lse),  M = 1 + max_j |scale| sum_d |q[d] k[j][d]|,  C = 24 + k_len / 64
 *
 * the error of an element of o is at most C u (M sum_j P[j] |v[j]| + 1e-30 sum_j |v[j]|), and that
 * of lse at most C u (M + |lse|), to which 2^-148 k_len, for subnormals, comes where it is not 0.
 * Float32 arithmetic and a good expf reach that with room to spare; half precision anywhere does
 * not. Results of two calls with the same arguments, num_threads among them, are the same bits.
 *
 * RETURN. 0 when everything was written. FLASH_ATTENTION_BAD_ARGUMENT when one of these holds: a
 * size below 0, head_dim or value_dim below 1, kv_heads below 1 while q_heads is above 0, q_heads
 * no multiple of kv_heads, a stride below 0, num_threads < 1, a window end below -1, scale or
 * softcap not finite, softcap < 0, a kv_start[b] or kv_len[b] below 0, or with a sum above k_len
 * (each by itself where the other is null), q or o missing while o has elements, k or v missing
 * while they have and o has. FLASH_ATTENTION_UNSUPPORTED for another abi_version or device and for
 * an element type that is not implemented. Where both apply, either is right; outputs stay
 * untouched in both cases. A size of 0 is no error: with no query there is nothing to write, with
 * no key every row is empty. What else the struct may hold is as its comments, ALIGNMENT and LIMITS
 * say: other values are not asked.
 *
 * FLOATING POINT. A function returns with the rounding mode, and with the treatment of subnormal
 * numbers, that it was called with.
 *
 * LIMITS. head_dim and value_dim up to 256, need not be equal, and need not be multiples of
 * anything; batch * q_heads up to 2^20, lengths up to 2^20, window ends up to 2^40: use 64-bit
 * arithmetic for offsets and positions.
 * Scratch memory is yours to allocate and to free; it stays below 16 MiB plus four times the bytes
 * of q, k, v and o, what is kept from earlier calls included.
 */

#ifdef __cplusplus
extern "C" {
#endif

enum { FLASH_ATTENTION_ABI_VERSION = 1 };

enum FlashAttentionStatus {
  FLASH_ATTENTION_OK = 0,
  FLASH_ATTENTION_UNSUPPORTED = -1,
  FLASH_ATTENTION_BAD_ARGUMENT = -2
};

enum FlashAttentionDevice { FLASH_ATTENTION_HOST = 0, FLASH_ATTENTION_CUDA = 1 };

/* Only FLASH_ATTENTION_F32 is graded; the 16-bit types may be refused as unsupported. */
enum FlashAttentionType {
  FLASH_ATTENTION_F32 = 0,
  FLASH_ATTENTION_F16 = 1,
  FLASH_ATTENTION_BF16 = 2
};

typedef struct FlashAttentionForwardArgs {
  int32_t abi_version; /* FLASH_ATTENTION_ABI_VERSION */
  int32_t struct_size; /* sizeof(FlashAttentionForwardArgs) of the caller */
  int32_t device;      /* enum FlashAttentionDevice: where all pointers point to */
  int32_t num_threads; /* host threads at work at most, the caller's included; 1 to 1024 */
  int32_t min_align;   /* bytes; see ALIGNMENT */
  int32_t data_type;   /* enum FlashAttentionType of q, k, v and o */
  void* stream;        /* CUDA stream to launch on; null on the host */

  int64_t batch;   /* >= 0, as the next four */
  int64_t q_heads; /* a multiple of kv_heads */
  int64_t kv_heads;
  int64_t q_len;
  int64_t k_len;
  int64_t head_dim;  /* of q and k; >= 1 */
  int64_t value_dim; /* of v and o; >= 1 */
  int64_t q_batch_stride, q_head_stride, q_row_stride;
  int64_t k_batch_stride, k_head_stride, k_row_stride;
  int64_t v_batch_stride, v_head_stride, v_row_stride;
  int64_t o_batch_stride, o_head_stride, o_row_stride;

  int32_t causal;       /* 0 or 1 */
  int32_t reserved;     /* 0 */
  int64_t window_left;  /* keys before the query's own position that it sees; -1: all */
  int64_t window_right; /* keys after it; -1: all */
  float scale;
  float softcap; /* 0: none */

  const void* q;
  const void* k;
  const void* v;
  const int32_t* kv_start; /* [batch]; null: 0 */
  const int32_t* kv_len;   /* [batch]; null: k_len - kv_start */

  void* o;
  float* lse; /* null: not wanted */
} FlashAttentionForwardArgs;

int64_t flash_attention_forward(const FlashAttentionForwardArgs* args);

#ifdef __cplusplus
}
#endif
