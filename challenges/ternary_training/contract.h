#pragma once

#include <stddef.h>
#include <stdint.h>

/* Train a small language model whose every weight is ternary, and write it in a packed format.
 *
 * THE MODEL is decoder-only. With x a vector of `width` floats for every position:
 *   x = embedding[token]
 *   for every layer:
 *     h = norm(x, gain);  q = Wq h,  k = Wk h,  v = Wv h;  each split into `heads` of equal size
 *     q and k are rotated;  a = softmax of q.k / sqrt(size), over the positions up to its own
 *     x = x + Wo (sum of a * v)
 *     h = norm(x, gain);  x = x + Wdown (silu(Wgate h) * (Wup h))
 *   logits = Whead norm(x, gain)
 * norm(x, g)[i] = x[i] / sqrt(mean of x^2 + TERNARY_NORM_EPSILON) * g[i]. silu(z) = z/(1 +
 * exp(-z)). No biases; Whead is a matrix of its own. Rotary positions: a head of size s at
 * position p (the first token of a window has 0) rotates the pairs (i, i + s/2), i < s/2, by the
 * angle p * TERNARY_ROPE_BASE^(-2i/s): first' = first cos - second sin, second' = second cos +
 * first sin.
 *
 * TERNARY WEIGHTS. A weight is scale * t with t in {-1, 0, +1}. Every matrix is [rows][columns]
 * in row order, a product is y[r] = sum over c of W[r][c] x[c], and the embedding of a token is a
 * row. Each run of `group` adjacent columns of one row shares one scale, a non-negative IEEE half
 * (binary16). A row never shares a group with another. Every matrix is ternary, embedding and
 * head among them; the gains of the norms are the only floats.
 *
 * THE CHECKPOINT is a string of bytes, little endian, without gaps:
 *   "TRN1", then vocab, width, layers, heads, hidden, context, group, each as uint32
 *   embedding [vocab][width]
 *   for every layer: Wq, Wk, Wv, Wo [width][width], Wgate, Wup [hidden][width],
 *     Wdown [width][hidden]
 *   Whead [vocab][width]
 *   gains [width] as float32: for every layer that before attention, then that before Wgate and
 *     Wup; at last that before Whead
 * Each matrix: its codes t + 1 in 2 bits, four to a byte, the first in the lowest bits, rows
 * adjacent; then the scales of its groups in the same order. The code 3, a scale with the sign
 * bit set, an infinite or NaN scale, and a gain that is not finite or exceeds 64 in magnitude are
 * errors, and so is any length but the one that follows from the header.
 *
 * ternary_train. Trains on num_documents texts, concatenated: document d is tokens
 * document_start[d] .. document_start[d+1]-1, documents may be empty. It starts from nothing but
 * its arguments: ids mean nothing and are dealt anew every time. Writes a checkpoint of exactly
 * `model`. It is judged by the mean negative log likelihood that the checkpoint gives to other
 * texts of the same source, which are never handed over, as described under LIKELIHOOD.
 *   Training ends, checkpoint written, within max_seconds of the call, and before more than
 *   max_tokens tokens were processed (one token in one training pass counts as one; a text gone
 *   through twice counts twice). Either may be the one that ends it; a negative one is no limit,
 *   and at least one is a limit. It may end earlier. max_tokens = 0 asks for an untrained model,
 *   which is a valid checkpoint and is described by the same outputs.
 *   `progress` is called from the thread that called ternary_train, once a second or more often
 *   while it trains and once at the end, with counts that never fall. A result other than 0 asks
 *   to end now: the checkpoint of what was learnt so far is written, progress is called at most
 *   once more, and 0 is returned.
 *   With num_threads = 1 and only max_tokens as limit, the same arguments give the same bytes,
 *   and another seed, in whichever of its bits, gives another model: an untrained one as well.
 *   train_nll      of the checkpoint as written: the LIKELIHOOD of one text that is the first
 *                  min(num_tokens, 4097) tokens handed over, document bounds ignored
 *   held_out_nll   what the checkpoint will give to unseen texts of the source, as the solution
 *                  estimates it; NaN when it makes no such claim
 *   tokens_seen    tokens processed in training
 *
 * LIKELIHOOD of a text of n tokens: it is cut into windows of `context` tokens, the last one may
 * be shorter. Position p of a window predicts the token that follows it in the text, so the last
 * one of a window predicts the first of the next; nothing of earlier windows is seen. The mean
 * over the n - 1 predictions of -log softmax(logits)[next token], in nats.
 *
 * ternary_quantize is the canonical quantiser (BitNet b1.58, by groups); ternary_train may choose
 * codes and scales in another way. For each group: m = mean of |w|, its scale s = m rounded to
 * the nearest half, ties to even, gradual underflow included. When s is 0 all t are 0. Otherwise
 * t is the sign of w where |w| > s/2, compared exactly, and 0 elsewhere. Codes and scales as in a
 * matrix of the checkpoint.
 *
 * ternary_linear_gradient is one linear layer in training with the straight-through estimator:
 * with W' the matrix that ternary_quantize makes of the latent `weight`,
 *   y[i] = W' x[i],   input_gradient[i] = transposed W' output_gradient[i],
 *   weight_gradient = sum over i of output_gradient[i] (outer) x[i]
 * so the quantiser counts as the identity in the weight's gradient, whatever became of a weight.
 * Within float32 accuracy of these sums.
 *
 * ternary_forward computes the logits of one window of num_tokens <= context tokens with the
 * model of a checkpoint. Within float32 accuracy. A checkpoint with an error is a bad argument.
 *
 * ALIGNMENT. Every array in the argument structs starts at a multiple of min_align bytes, which
 * is a power of two and at least the size of an element. No array overlaps another. Inputs must
 * not be written.
 *
 * RETURN. 0 when everything was written. TERNARY_BAD_ARGUMENT for a size below 1, num_threads
 * below 1, a group that is no multiple of 4 or does not divide both width and hidden (or
 * `columns`), heads that do not divide width into parts of even size, vocab above 65536, a token
 * that is not below vocab, num_tokens below context + 1 in training or above context in
 * ternary_forward, document_start not ascending from 0 to num_tokens, a checkpoint with an error,
 * both limits negative, a group whose mean rounds to infinity. TERNARY_NO_SPACE when
 * checkpoint_capacity is too small; the size needed is then in checkpoint_bytes. Both are found
 * before training starts. TERNARY_UNSUPPORTED for another abi_version or device. Where several
 * apply it is UNSUPPORTED before BAD_ARGUMENT before NO_SPACE. Outputs stay untouched in all these
 * cases but the one named. Latent weights, x and gradients are finite, max_seconds is no NaN, and
 * no model that is otherwise right has a size above 2^31 - 1.
 *
 * MEMORY. Scratch memory is yours to allocate and to free.
 *
 * FLOATING POINT. A function returns with the rounding mode, and with the treatment of subnormal
 * numbers, that it was called with.
 *
 * Sources: Ma et al. 2024, "The Era of 1-bit LLMs" (arXiv 2402.17764); Bengio et al. 2013,
 * straight-through estimator (arXiv 1308.3432); Touvron et al. 2023, LLaMA (arXiv 2302.13971);
 * Su et al. 2021, RoPE (arXiv 2104.09864, in the half-split layout of Hugging Face Transformers).
 */

#ifdef __cplusplus
extern "C" {
#endif

enum { TERNARY_ABI_VERSION = 1 };

enum TernaryStatus {
  TERNARY_OK = 0,
  TERNARY_UNSUPPORTED = -1,
  TERNARY_BAD_ARGUMENT = -2,
  TERNARY_NO_SPACE = -3
};

enum TernaryDevice { TERNARY_HOST = 0, TERNARY_CUDA = 1 };

#define TERNARY_NORM_EPSILON 1e-5f
#define TERNARY_ROPE_BASE 10000.0f

typedef struct TernaryModel {
  int64_t vocab;   /* 1 .. 65536 */
  int64_t width;   /* a multiple of group and of 2 * heads */
  int64_t layers;  /* >= 1 */
  int64_t heads;   /* >= 1 */
  int64_t hidden;  /* a multiple of group */
  int64_t context; /* tokens of a window, >= 1 */
  int64_t group;   /* adjacent columns that share a scale, a multiple of 4 */
} TernaryModel;

typedef struct TernaryProgress {
  int64_t steps;       /* updates of the weights so far */
  int64_t tokens_seen; /* tokens processed so far */
  double train_nll;    /* of a recent batch, in nats a token */
} TernaryProgress;

typedef struct TernaryTrainArgs {
  int32_t abi_version; /* TERNARY_ABI_VERSION */
  int32_t struct_size; /* sizeof(TernaryTrainArgs) of the caller */
  int32_t device;      /* enum TernaryDevice: where all arrays lie */
  int32_t num_threads; /* host threads at work at most, the caller's included; 1 to 1024 */
  int32_t min_align;   /* bytes; see ALIGNMENT */
  int32_t reserved;    /* 0 */
  void* stream;        /* CUDA stream to launch on; null on the host */

  TernaryModel model;
  int64_t num_tokens;            /* >= context + 1 */
  int64_t num_documents;         /* >= 1 */
  const uint16_t* token;         /* [num_tokens] */
  const int64_t* document_start; /* [num_documents + 1] */
  double max_seconds;            /* wall time; negative: no limit */
  int64_t max_tokens;            /* negative: no limit */
  uint64_t seed;                 /* of everything random */

  void* listener; /* first argument of progress; may be null */
  int64_t (*progress)(void* listener, TernaryProgress* progress);

  int64_t checkpoint_capacity; /* bytes */
  uint8_t* checkpoint;         /* [checkpoint_capacity]; behind the bytes written anything goes */
  int64_t* checkpoint_bytes;   /* [1] bytes written */
  double* train_nll;           /* [1] */
  double* held_out_nll;        /* [1] */
  int64_t* tokens_seen;        /* [1] */
} TernaryTrainArgs;

typedef struct TernaryQuantizeArgs {
  int32_t abi_version;
  int32_t struct_size; /* sizeof(TernaryQuantizeArgs) of the caller */
  int32_t device;
  int32_t num_threads;
  int32_t min_align;
  int32_t reserved;
  void* stream;

  int64_t rows;        /* >= 1 */
  int64_t columns;     /* >= 1, a multiple of group */
  int64_t group;       /* a multiple of 4 */
  const float* weight; /* [rows][columns] */

  uint8_t* codes;   /* [rows * columns / 4] */
  uint16_t* scales; /* [rows][columns / group] halves */
} TernaryQuantizeArgs;

typedef struct TernaryLinearGradientArgs {
  int32_t abi_version;
  int32_t struct_size; /* sizeof(TernaryLinearGradientArgs) of the caller */
  int32_t device;
  int32_t num_threads;
  int32_t min_align;
  int32_t reserved;
  void* stream;

  int64_t rows;
  int64_t columns;              /* a multiple of group */
  int64_t group;                /* a multiple of 4 */
  int64_t count;                /* >= 1 vectors */
  const float* weight;          /* [rows][columns] latent */
  const float* x;               /* [count][columns] */
  const float* output_gradient; /* [count][rows] */

  float* y;               /* [count][rows] */
  float* input_gradient;  /* [count][columns] */
  float* weight_gradient; /* [rows][columns] */
} TernaryLinearGradientArgs;

typedef struct TernaryForwardArgs {
  int32_t abi_version;
  int32_t struct_size; /* sizeof(TernaryForwardArgs) of the caller */
  int32_t device;
  int32_t num_threads;
  int32_t min_align;
  int32_t reserved;
  void* stream;

  int64_t checkpoint_bytes;  /* >= 0 */
  const uint8_t* checkpoint; /* [checkpoint_bytes] */
  int64_t num_tokens;        /* 1 .. context */
  const uint16_t* token;     /* [num_tokens] */

  float* logits; /* [num_tokens][vocab] */
} TernaryForwardArgs;

int64_t ternary_train(const TernaryTrainArgs* args);
int64_t ternary_quantize(const TernaryQuantizeArgs* args);
int64_t ternary_linear_gradient(const TernaryLinearGradientArgs* args);
int64_t ternary_forward(const TernaryForwardArgs* args);

#ifdef __cplusplus
}
#endif
