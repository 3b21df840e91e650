#pragma once

#include <stddef.h>
#include <stdint.h>

/* Softmax over a large vocabulary, fused with the selection of the k most probable entries.
 *
 * Row i has len = valid_len[i] logits z[0] .. z[len - 1] (len = vocab where valid_len is null) and
 *
 *   row_max[i] = max_j scale * z[j]
 *   lse[i]     = log sum_j exp(scale * z[j])             over all len entries, not only the k best
 *   p[j]       = exp(scale * z[j] - lse[i])
 *
 * The first min(k, len) columns of row i of indices and probs name the entries that come first in
 * this order, best first, with their p:
 *
 *   a comes before b   if z[a] > z[b], or if z[a] == z[b] and a < b
 *
 * The order is that of the logits as they are given, before anything is scaled or rounded; -0 and
 * +0 are equal. It is total, so that there is one right answer. The columns from len on, where k >
 * len, get index -1 and probability 0. Probabilities are those of the whole row: they are not
 * divided by their sum over the k entries.
 *
 * Source: Milakov and Gimelshein 2018, "Online normalizer calculation for softmax" (arXiv
 * 1805.02867), with the tie order of a stable descending sort.
 *
 * LAYOUT. Row i of logits starts at logits + i * row_stride; row_stride counts elements and is at
 * least vocab. The entries of a row are adjacent. What lies between a row's last valid entry and
 * the start of the next row may hold anything, NaN included. indices and probs are dense [rows][k],
 * lse, row_max and valid_len dense [rows]. No array overlaps another.
 *
 * ALIGNMENT. All arrays are multiples of min_align bytes, which is a power of two and at least 4
 * (valid_len: at least 8). Nothing follows for the rows after the first.
 *
 * VALUES. Outputs hold garbage at first and are overwritten. Inputs must not be written. Finite
 * logits may have any magnitude, subnormal ones included, for which scale * z does not overflow.
 *
 *   z[j] = -inf              p[j] = 0; comes after every finite entry, and among its like in
 *                            ascending order of the index
 *   all of a row -inf,       lse = row_max = -inf and every p = 0; indices as the order says
 *   or len = 0
 *   NaN or +inf in a row     spoils probs, lse and row_max of that row and nothing else; its first
 *                            min(k, len) indices are still different from each other and lie in
 *                            0 .. len - 1, and the others are -1
 *
 * ACCURACY. Indices are exact. The numbers are compared with the formulas in float64 on the same
 * float32 inputs: lse within about 1e-6 * (1 + |lse|), row_max within one unit in the last place, p
 * within a relative 1e-6 * (2 + |scale * z - row_max| + log2(len) / 4), and where scale is not 1
 * another 1e-7 * (|scale * z| + |row_max|) for rounding the products. So an offset common to all
 * logits of a row costs p nothing when scale is 1. Results below 2^-126 may be flushed to zero.
 * The probabilities of -inf and of columns from len on are exactly 0.
 *
 * RETURN. 0 when everything was written. SOFTMAX_TOPK_BAD_ARGUMENT for rows < 0, vocab < 1, k < 1,
 * k > vocab, row_stride < vocab, num_threads < 1, a scale that is not finite and positive, or
 * logits, indices or probs missing while rows > 0. SOFTMAX_TOPK_UNSUPPORTED for another abi_version
 * or device, and for an element type that is not implemented. Where both refusals apply, either is
 * right. Outputs stay untouched in both cases.
 *
 * FLOATING POINT. A function returns with the rounding mode, and with the treatment of subnormal
 * numbers, that it was called with.
 *
 * LIMITS. vocab up to 2^31 - 1, every k up to vocab, rows * row_stride up to 2^40 where memory
 * allows: use 64-bit arithmetic. Scratch memory is yours to allocate and to free. It stays below 16
 * MiB plus 4 % of the size of the logits, outputs not counted, when k <= 1024 and vocab <= 2^18:
 * the probabilities of a whole batch are never written down.
 *
 * DEVICE. With SOFTMAX_TOPK_CUDA all pointers of the struct but stream are pointers to memory of
 * the current CUDA device, and so is scratch memory; the struct itself lies on the host. Kernels
 * compute the outputs, and a call copies 4096 bytes or less from the device to the host. All of
 * its work comes behind what the stream holds already, and is done when the stream is: the call
 * may return before that. The stream may wait for the default stream, may be one that does not
 * (cudaStreamNonBlocking), or null: the default stream. What one thread writes and another reads
 * or writes is kept apart by barriers, fences, atomics or the ends of kernels, and nothing is read
 * that nobody has written. A positive return value is the cudaError_t of a CUDA function that
 * failed.
 */

#ifdef __cplusplus
extern "C" {
#endif

enum { SOFTMAX_TOPK_ABI_VERSION = 1 };

enum SoftmaxTopkStatus {
  SOFTMAX_TOPK_OK = 0,
  SOFTMAX_TOPK_UNSUPPORTED = -1,
  SOFTMAX_TOPK_BAD_ARGUMENT = -2
};

enum SoftmaxTopkDevice { SOFTMAX_TOPK_HOST = 0, SOFTMAX_TOPK_CUDA = 1 };

/* Only SOFTMAX_TOPK_F32 is graded; the 16-bit types may be refused as unsupported. */
enum SoftmaxTopkType { SOFTMAX_TOPK_F32 = 0, SOFTMAX_TOPK_F16 = 1, SOFTMAX_TOPK_BF16 = 2 };

typedef struct SoftmaxTopkArgs {
  int32_t abi_version;   /* SOFTMAX_TOPK_ABI_VERSION */
  int32_t struct_size;   /* sizeof(SoftmaxTopkArgs) of the caller */
  int32_t device;        /* enum SoftmaxTopkDevice: where all pointers point to */
  int32_t num_threads;   /* host threads at work at most, the caller's included; 1 to 1024 */
  int32_t deterministic; /* not 0: same arguments, same num_threads, same bits in every run */
  int32_t min_align;     /* bytes; see ALIGNMENT */
  int32_t data_type;     /* enum SoftmaxTopkType of logits */
  void* stream;          /* CUDA stream to launch on; null on the host */

  int64_t rows;       /* >= 0 */
  int64_t vocab;      /* >= 1 */
  int64_t k;          /* 1 .. vocab */
  int64_t row_stride; /* >= vocab */
  float scale;        /* 1 / temperature; finite, > 0 */

  const void* logits;
  const int64_t* valid_len; /* [rows], each 0 .. vocab; null: every row has vocab entries */

  int32_t* indices; /* [rows][k] */
  float* probs;     /* [rows][k] */
  float* lse;       /* [rows]; null: not wanted */
  float* row_max;   /* [rows]; null: not wanted */
} SoftmaxTopkArgs;

int64_t softmax_topk(const SoftmaxTopkArgs* args);

#ifdef __cplusplus
}
#endif
