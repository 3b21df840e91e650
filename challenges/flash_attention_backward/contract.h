#pragma once

#include <stddef.h>
#include <stdint.h>

/* Backward pass of scaled dot-product attention. For query i of one head and the keys j it sees,
 *
 *   x_ij = scale * sum_c q[i][c] k[j][c]
 *   s_ij = softcap > 0 ? softcap * tanh(x_ij / softcap) : x_ij
 *   P_ij = exp(s_ij - lse[i])                                    (0 for keys that i does not see)
 *
 * and, for a loss whose gradients are dout with respect to o and dlse with respect to lse,
 *
 *   delta[i] = sum_c dout[i][c] o[i][c] - dlse[i]
 *   dP_ij    = sum_c dout[i][c] v[j][c]
 *   dx_ij    = P_ij * (dP_ij - delta[i]) * (softcap > 0 ? 1 - tanh(x_ij / softcap)^2 : 1)
 *
 *   dq[i][c] = scale * sum_j dx_ij k[j][c]
 *   dk[j][c] = scale * sum_i dx_ij q[i][c]
 *   dv[j][c] = sum_i P_ij dout[i][c]
 *
 * The sums of dk and dv run over all query heads that read the kv head: query head h reads kv head
 * h / (q_heads / kv_heads).
 *
 * Source: Dao, Fu, Ermon, Rudra, Re 2022, "FlashAttention", and Dao 2023, "FlashAttention-2"; masks
 * as in the flash-attention library since 2.1.
 *
 * GIVEN STATISTICS. o and lse (natural logarithm) come from a forward pass and are authoritative:
 * the formulas above are evaluated with them as they are. That pass may have seen more keys than
 * this call does: k and v may be one shard of a longer sequence, whose weights P_ij then sum to
 * less than 1 here. The caller adds the dq of all shards. lse[i] = -infinity marks a query that saw
 * no key at all: whatever it sees here, it contributes nothing to dk and dv, and its dq is 0.
 * s_ij - lse[i] is never above 20.
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
 * all hold. Both ends of a window are included. A query that sees no key has dq = 0, whatever its
 * lse is; a key that nobody sees, or that does not exist, has dk = dv = 0.
 *
 * LAYOUT. A tensor is addressed by three strides, counted in elements: q[b][h][i][c] is q[b *
 * q_batch_stride + h * q_head_stride + i * q_row_stride + c], and so on; the elements of a row are
 * adjacent. q, o, dout and dq have q_heads heads of q_len rows; k, v, dk and dv kv_heads heads of
 * k_len rows; rows of q, k, dq and dk have head_dim elements, those of v, o, dout and dv value_dim.
 * Strides are >= 0: that of a dimension of 1 or of 0 may be any such number, and of inputs they may
 * be 0: that repeats the same rows. What lies between rows is not part of a tensor: it may hold
 * anything, NaN included, and must not be written. Rows of outputs do not overlap. lse, dlse and
 * delta are dense [batch][q_heads][q_len], kv_start and kv_len dense [batch]. Outputs overlap
 * nothing; inputs may overlap each other.
 *
 * ALIGNMENT. Pointers to floats are multiples of min_align bytes, which is a power of two and at
 * least the size of an element. Nothing follows for the rows after the first.
 *
 * VALUES. Outputs hold garbage at first and are overwritten, never accumulated into; all k_len rows
 * of dk and dv are written. Inputs must not be written. Keys that do not exist may hold anything,
 * NaN included, and change nothing. All other elements are finite, except for lse as said, and the
 * results and all sums above are representable in float, evaluated as they are written: scale times
 * a finished sum is, scale times a dx_ij may not be. Rows of q, k, v and dout may differ by many
 * orders of magnitude between heads and between queries.
 *
 * ACCURACY. Every element of every result is compared with the formulas in float64 on the same
 * float32 inputs. With u = 2^-24, C = 32, sums of absolute values |a.b| = sum_c |a[c] b[c]|, and
 *
 *   M_i  = 1 + |lse[i]| + softcap + max_j |scale| |q_i.k_j|   over the keys that i sees
 *   T_ij = what 1 - tanh(x_ij / softcap)^2 changes by at most when x_ij is moved by
 *          C u |scale| |q_i.k_j| or less, in units of C u; 0 without a softcap
 *   W_ij = M_i (P_ij + 1e-30)
 *   A_ij = |scale| (W_ij + T_ij (P_ij + 1e-30)) (|dout_i.v_j| + |dout_i.o_i| + |dlse[i]|)
 *
 * the error of dv[j] is at most C u sum_i W_ij |dout_i|, that of dq[i] C u sum_j A_ij |k_j|, that
 * of dk[j] C u sum_i A_ij |q_i|, and that of delta[i] C u (|dout_i.o_i| + |dlse[i]|), each plus
 * 1e-36 unless the sum is 0: then the result is 0. Float32 products and sums with a good expf reach
 * that with room to spare; half precision anywhere does not.
 *
 * REPRODUCIBILITY. With deterministic not 0, the same arguments give the same bits in every call.
 * The bits may depend on num_threads.
 *
 * RETURN. 0 when everything was written. FLASH_ATTENTION_BAD_ARGUMENT when one of these holds: a
 * size below 0, head_dim or value_dim outside of 1..256, kv_heads below 1 while q_heads is above 0,
 * q_heads no multiple of kv_heads, a stride below 0, num_threads < 1, a window end below -1, scale
 * or softcap not finite, softcap < 0, a kv_start[b] below 0 or above k_len, a kv_len[b] below 0 or
 * beyond k_len - kv_start[b], or a missing input: q, o, dout or lse while there are queries, k or v
 * while there are keys. FLASH_ATTENTION_UNSUPPORTED for another abi_version or device and for an
 * element type that is not implemented. Where both apply, either is right. Outputs stay untouched
 * in both cases. A size of 0 is no error: without queries dk and dv are 0, without keys dq is.
 *
 * FLOATING POINT. A function returns with the rounding mode, and with the treatment of subnormal
 * numbers, that it was called with.
 *
 * LIMITS. batch * q_heads up to 2^20, lengths up to 2^20, window ends up to 2^40: use 64-bit
 * arithmetic for offsets and positions. Scratch memory is yours to allocate and to free; it stays
 * below 16 MiB and eight times the size of dq, dk and dv together: no matrix of q_len * k_len
 * scores.
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

typedef struct FlashAttentionBackwardArgs {
  int32_t abi_version;   /* FLASH_ATTENTION_ABI_VERSION */
  int32_t struct_size;   /* sizeof(FlashAttentionBackwardArgs) of the caller */
  int32_t device;        /* enum FlashAttentionDevice: where all pointers point to */
  int32_t num_threads;   /* host threads at work at most, the caller's included; 1 to 1024 */
  int32_t deterministic; /* not 0: see REPRODUCIBILITY */
  int32_t min_align;     /* bytes; see ALIGNMENT */
  int32_t data_type;     /* enum FlashAttentionType of q, k, v, o, dout, dq, dk, dv */
  int32_t causal;        /* not 0: no query sees a key behind its own place */
  void* stream;          /* CUDA stream to launch on; null on the host */

  int64_t batch;   /* >= 0, as the next four */
  int64_t q_heads; /* a multiple of kv_heads */
  int64_t kv_heads;
  int64_t q_len;
  int64_t k_len;
  int64_t head_dim;  /* of q and k; 1..256 */
  int64_t value_dim; /* of v and o; 1..256 */

  int64_t q_batch_stride, q_head_stride, q_row_stride;
  int64_t k_batch_stride, k_head_stride, k_row_stride;
  int64_t v_batch_stride, v_head_stride, v_row_stride;
  int64_t o_batch_stride, o_head_stride, o_row_stride;
  int64_t dout_batch_stride, dout_head_stride, dout_row_stride;
  int64_t dq_batch_stride, dq_head_stride, dq_row_stride;
  int64_t dk_batch_stride, dk_head_stride, dk_row_stride;
  int64_t dv_batch_stride, dv_head_stride, dv_row_stride;

  int64_t window_left;  /* -1: no limit */
  int64_t window_right; /* -1: no limit */
  float scale;          /* finite; may be 0 or negative */
  float softcap;        /* >= 0; 0: scores are not capped */

  const void* q;
  const void* k;
  const void* v;
  const void* o;
  const void* dout;
  const float* lse;
  const float* dlse;       /* null: all zeros */
  const int32_t* kv_start; /* null: all zeros */
  const int32_t* kv_len;   /* null: k_len - kv_start */

  void* dq; /* null: not wanted, as for the next three */
  void* dk;
  void* dv;
  float* delta;
} FlashAttentionBackwardArgs;

int64_t flash_attention_backward(const FlashAttentionBackwardArgs* args);

#ifdef __cplusplus
}
#endif
