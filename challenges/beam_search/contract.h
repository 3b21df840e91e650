#pragma once

#include <stddef.h>
#include <stdint.h>

/* Beam search over a batch of prompts, with a language model that the caller answers.
 *
 * WORDS. A hypothesis is a list of generated tokens; the prompt is no part of it. It is finished when
 * its last token is one of eos[], open otherwise; EOS tokens stand nowhere else. log_prob is the sum
 * of the model's log-probabilities of its tokens, accumulated in float64. Its length counts generated
 * tokens, a final EOS included. Its score ranks it:
 *
 *   score = log_prob / lp(length)
 *   lp(n) = 1                    BEAM_PENALTY_NONE
 *         = n^alpha              BEAM_PENALTY_LENGTH
 *         = ((5 + n) / 6)^alpha  BEAM_PENALTY_GNMT
 *
 * in float64, with one division. Scores only rank; what is accumulated is log_prob.
 *
 * Every item of the batch is searched for itself: its result is the one that it gets alone. Time runs
 * in steps t = 1, 2, ... At t = 1 the item has one open hypothesis, the empty one, whose log-probs are
 * row b of root_log_probs. In every step each open hypothesis is extended by every token that is
 * possible: all but those with log-probability -infinity, and all but EOS tokens while t <= min_new.
 * The policy says which extensions stay. An item is done when its policy says so, or when it has no
 * open hypothesis left, or at the end of step max_new.
 *
 * BEAM_SEPARATE keeps up to `beam` open hypotheses, ranked 0, 1, ..., and beside them a list of up to
 * `beam` finished ones. In step t:
 *   1. All extensions are ordered by log_prob, highest first; among equals the lower rank of the
 *      extended hypothesis comes first, then the lower token.
 *   2. Those among the first `beam` that are finished enter the list, in this order. Finished ones
 *      further down are dropped.
 *   3. The first `beam` that are not finished become the open hypotheses, in this order.
 *   4. If t = max_new, the open hypotheses enter the list as well, in order, as they are.
 *   5. If the list is full (holds `beam`), the item is done
 *        BEAM_STOP_FULL      at once;
 *        BEAM_STOP_ESTIMATE  when worst >= best / lp(t);
 *        BEAM_STOP_BOUND     when worst >= best / lp(max_new) if alpha > 0, and when
 *                            worst >= best / lp(t) otherwise;
 *      worst is the lowest score in the list, best the log_prob of the first open hypothesis.
 * The list is ordered by score, highest first, the one that entered earlier first among equals. When
 * it outgrows `beam` its last is dropped. The list at the end is the result.
 *
 * BEAM_POOLED keeps up to `beam` slots that open and finished hypotheses share. In step t the
 * candidates are all extensions of open slots, and all finished slots as they are, with the score
 * that they have. They are ordered by score, highest first; among equals the lower slot that they
 * come from is first, then the lower token, a finished slot counting as token -1. The first `beam`
 * are the new slots, in this order. The item is done when no slot is open. The slots at the end are
 * the result; `stop` decides nothing here, but has to be a known one.
 *
 * THE MODEL. The caller has fed the prompts already: root_states[b] is the state after prompt b,
 * root_log_probs its answer. After that, `step` extends states by one token each. A row of a request
 * names a state and the token that follows it; the answer is the state after that token and the
 * log-probabilities of what comes next. A state is an opaque number that only its own row's answer or
 * root_states gives away, and that several rows may be answered with; it stays good until the call
 * returns, and may be extended any number of times. Log-probabilities are at most 0, or -infinity for
 * what is forbidden. They are used as they are, and need not sum to 1.
 *
 * Asking the model is what costs. A time step of the whole batch is one request; it has one row for
 * each open hypothesis of each item that is not done, and no other. After step max_new nothing is
 * asked. The model may be asked by the thread that called beam_search only. When `step` returns
 * anything but 0, beam_search returns that number without asking again, and its outputs are
 * unspecified.
 *
 * RESULTS. hypotheses[b] counts the hypotheses of item b: at most n_return, the best first. For
 * i < hypotheses[b], tokens[b][i] starts with lengths[b][i] tokens, finished[b][i] is 1 or 0.
 * Whatever tokens follow are `pad`. For i >= hypotheses[b] all tokens are pad, the length and
 * finished are 0, log_prob and score are -infinity. steps[b] is the t at whose end the item was done.
 * With max_new = 0 every item has one open hypothesis, of length 0, log_prob 0 and score 0, and
 * steps[b] is 0.
 *
 * ACCURACY. Tokens, lengths and counts are compared exactly, log_prob and score within 1e-9 relative
 * to float64 arithmetic. Decisions that hinge on less than 1e-9 relative between hypotheses with
 * different lp are not graded, nor those that hang on the last bits of lp; all other ties are, also
 * where different log-probs give equal sums, or different sums equal scores. The same arguments give
 * the same bits, whatever num_threads is.
 *
 * LAYOUT. Arrays, those of a request as well, are dense and row-major, [batch][n_return][max_new] and
 * so on, on the natural alignment of their type, and do not overlap: the model may write an answer
 * before it has read all that it was asked. Inputs must not be written. All outputs but steps are
 * given.
 *
 * RETURN. 0 when everything was written; batch = 0 is valid and does nothing. BEAM_BAD_ARGUMENT for
 * batch, max_new, min_new or eos_count < 0, beam < 1, vocab < 1, min_new > max_new, n_return < 1 or
 * > beam, an EOS id outside 0..vocab-1, an alpha that is not finite, an unknown penalty, policy or
 * stop, num_threads < 1, in an empty batch as well (whose eos may be null: it has no ids then), or
 * with batch > 0 a null pointer other than stream, model and steps (eos, when eos_count is 0; tokens
 * and step, when max_new is 0). BEAM_UNSUPPORTED for another abi_version or device. Outputs stay
 * untouched in both cases, and the model is not asked; where both apply, either is right.
 *
 * FLOATING POINT. A function returns with the rounding mode, and with the treatment of subnormal
 * numbers, that it was called with.
 *
 * LIMITS. beam up to 1024 and eos_count up to 64, more is not asked; an alpha for which lp(1) to
 * lp(max_new) are normal float64 numbers, and no score is beyond float64; vocab, max_new and batch
 * as memory allows: use 64-bit arithmetic. Scratch memory is yours to allocate and to free; it should
 * grow with batch * beam * vocab no more than one answer of the model does, whatever max_new is.
 *
 * Source: Graves 2012, "Sequence Transduction with Recurrent Neural Networks" (finished and open
 * hypotheses in one pool); Wu et al. 2016, "Google's Neural Machine Translation System" (the penalty);
 * the separate list and the stop rules are those of Hugging Face transformers (4.50 and later).
 */

#ifdef __cplusplus
extern "C" {
#endif

enum { BEAM_ABI_VERSION = 1 };

enum BeamStatus { BEAM_OK = 0, BEAM_UNSUPPORTED = -1, BEAM_BAD_ARGUMENT = -2 };

enum BeamDevice { BEAM_HOST = 0, BEAM_CUDA = 1 };

enum BeamPenalty { BEAM_PENALTY_NONE = 0, BEAM_PENALTY_LENGTH = 1, BEAM_PENALTY_GNMT = 2 };

enum BeamPolicy { BEAM_POOLED = 0, BEAM_SEPARATE = 1 };

enum BeamStop { BEAM_STOP_ESTIMATE = 0, BEAM_STOP_FULL = 1, BEAM_STOP_BOUND = 2 };

/* One request to the model. The arrays are the solution's. */
typedef struct BeamStep {
  int64_t rows;           /* 1 or more, at most batch * beam */
  const uint64_t* states; /* [rows] */
  const int32_t* tokens;  /* [rows] what follows each state */
  uint64_t* new_states;   /* [rows] written by the model: the states after the tokens */
  float* log_probs;       /* [rows][vocab] written by the model */
} BeamStep;

typedef int64_t (*BeamStepFunction)(void* model, BeamStep* step);

typedef struct BeamArgs {
  int32_t abi_version; /* BEAM_ABI_VERSION */
  int32_t struct_size; /* sizeof(BeamArgs) of the caller */
  int32_t device;      /* enum BeamDevice: where root_log_probs and BeamStep.log_probs are; all
                          other arrays are host memory */
  int32_t num_threads; /* host threads at work at most, the caller's included; 1 to 1024 */
  void* stream;        /* CUDA stream to launch on; null on the host */

  int64_t batch;
  int64_t beam;
  int64_t vocab;
  int64_t max_new; /* longest hypothesis */
  int64_t min_new; /* tokens that come before an EOS, at least */
  int64_t n_return;
  int64_t eos_count;

  double alpha;
  int32_t penalty; /* enum BeamPenalty */
  int32_t policy;  /* enum BeamPolicy */
  int32_t stop;    /* enum BeamStop */
  int32_t pad;     /* fills unused places of `tokens`; has no other meaning */

  const int32_t* eos;            /* [eos_count], all different */
  const int64_t* prompt_lengths; /* [batch] tokens that each prompt had, 0 or more */
  const uint64_t* root_states;   /* [batch], all different */
  const float* root_log_probs;   /* [batch][vocab] */

  BeamStepFunction step;
  void* model; /* first argument of step; may be null */

  int32_t* hypotheses; /* [batch] */
  int32_t* tokens;     /* [batch][n_return][max_new] */
  int32_t* lengths;    /* [batch][n_return] */
  int32_t* finished;   /* [batch][n_return] */
  double* log_probs;   /* [batch][n_return] */
  double* scores;      /* [batch][n_return] */
  int32_t* steps;      /* [batch]; null: not wanted */
} BeamArgs;

int64_t beam_search(const BeamArgs* args);

#ifdef __cplusplus
}
#endif
