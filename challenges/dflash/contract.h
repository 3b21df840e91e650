#pragma once

#include <stddef.h>
#include <stdint.h>

/* Greedy speculative decoding with draft trees: build the attention mask of a tree, verify it
 * against the target model's logits, and decode whole requests with both.
 *
 * TREES. A drafter guesses how the text goes on. Its guess for one request is a tree of n >= 0
 * nodes, numbered 0..n-1: node i is the token token[i] after its parent parent[i], which is another
 * node, parent[i] < i, or -1 for the tree's root. The root is no node: it is the last token that is
 * already decided but that the target has not read yet. The target reads a tree in one forward pass
 * of n+1 rows, also called slots: row 0 is the root and row i+1 is node i. The arrays of several
 * trees are concatenated: the nodes of tree t are entries node_start[t] .. node_start[t+1]-1 of
 * `parent` and `token`, and its rows are rows node_start[t]+t .. node_start[t+1]+t of everything that
 * has rows. Siblings come in any order, levels may be mixed, and siblings may carry the same token.
 *
 * THE TARGET'S CHOICE after a row is the token with the largest logit in that row, the lowest id
 * among equals. Logits are never NaN; infinities of both signs occur, also in all of a row.
 *
 * dflash_build. Row i of a tree must see its own slot, the slots of its ancestors and the root's, and
 * no other new slot; it also sees everything that was committed before, which the mask does not show.
 *   mask[row * mask_words + j / 64] bit j % 64   1 when the row may see slot j of its tree, else 0;
 *                                                all mask_words words of every row are written
 *   position[row]                                context_length[t] + depth, where the root has depth 0
 *
 * dflash_verify. Starting at the root: if a child of the current row carries the target's choice
 * after that row, emit the token and go on there; else emit the choice itself, which no node carries
 * (the bonus), and stop. Nothing is emitted after an end-of-sequence token, whether a node or the bonus
 * brought it, nor beyond max_emit[t] tokens. So the emitted tokens are exactly those that the target
 * alone would have decoded. For tree t, starting at row node_start[t]+t of `emit` and `path`:
 *   emit, num_emit[t]   the emitted tokens
 *   path, num_path[t]   the nodes whose tokens were emitted, from the top, numbered within the tree
 * Entries of emit and path from the count to the end of the tree's rows are scratch. A node's token,
 * in a pass of dflash_generate too, and an end-of-sequence token may be any int32: one outside
 * 0..vocab-1 is never the target's choice. Where siblings carry the same token either may be followed,
 * so that rounds and accepted may differ; a longer path is better.
 *
 * dflash_generate. Decodes num_requests requests with a target and a drafter that are only known as
 * callbacks. Request r starts with the prompt tokens prompt_start[r] .. prompt_start[r+1]-1, at least
 * one; the target has read and committed all of them but the last, which is the first root. A request
 * runs until it has emitted max_new[r] tokens or an end-of-sequence token. Rounds, until no request
 * runs: `draft` a tree for every running request, `forward` all their trees in one pass, decide what
 * to emit, `keep` the slots of the accepted path. The last token emitted is the root of the next round.
 *   emit[r * emit_stride + k], num_emit[r]   the tokens emitted by request r, at most max_new[r]
 *   rounds[r]     forward passes that request r took part in
 *   accepted[r]   how many of its emitted tokens were nodes of a tree (the others were bonuses)
 * Entries of emit from the count to max_new[r] are scratch; beyond max_new[r] nothing is written.
 *
 * CALLBACKS are called with `model` as first argument, from the thread that called dflash_generate,
 * one at a time. A result other than 0 ends dflash_generate: it makes no further callback and returns
 * that result; the outputs are scratch then. Pointers in a callback's struct belong to the solution
 * and are always host memory; the callback reads the inputs and writes the outputs.
 *   draft     context is everything known of a request: prompt and emitted tokens, the root last.
 *             Answers trees of 0..budget nodes for the listed requests; entry k of num_nodes belongs
 *             to request[k], its nodes start at parent + k * budget and token + k * budget. The
 *             described procedure wants draft_budget nodes; fewer may be wanted, and where none are
 *             the callback may be left out.
 *   forward   One pass of the target over any number of requests, each at most once. The rows of
 *             request[k] follow those of request[k-1]. Bit j of a row's mask is slot j among the rows
 *             of the same request; a row sees itself, may see earlier rows, and sees the
 *             context_length[k] tokens that are committed. Together the slots that a row sees must
 *             stand at the positions 0, 1, ... up to its own, each once. context_length[k] must be
 *             what is committed. vocab must be the model's. Writes num_rows * vocab logits.
 *   keep      Commits slots of the latest forward pass of the listed requests, in the order of the
 *             text, and drops that pass's other slots. Needed before the next draft and forward of a
 *             request that goes on; for a request that has ended it may be left out.
 * Forward passes are what costs. Their number, and the rows in them, are compared with what the
 * described procedure needs; a request that has ended takes no part in any.
 *
 * ALIGNMENT. Every array in the three argument structs is a multiple of min_align bytes, which is a
 * power of two and at least 8, the size of the largest element. Rows of logits start logits_stride
 * floats apart and nothing follows for their alignment; what lies between two rows is not part of the
 * array and may hold anything. An array without elements may be null. No array overlaps another; those
 * in a callback's struct are aligned as their elements are, and none that the callback writes overlaps
 * any other of them. Inputs must not be written.
 *
 * RETURN. 0 when everything was written. DFLASH_BAD_ARGUMENT for a negative size, num_threads < 1,
 * vocab < 1, logits_stride < vocab, node_start or prompt_start not ascending from 0, a parent outside
 * -1..i-1, mask_words too small for a tree, a negative context_length, max_emit or max_new, emit_stride
 * below a max_new[r], a prompt without a token, or a draft callback that answers such a tree or more
 * nodes than asked for, which `forward` is not asked about. DFLASH_UNSUPPORTED for another
 * abi_version or device. Where both apply, either is right. Outputs stay untouched in both cases,
 * except after a bad answer of a callback. struct_size, min_align, reserved and stream need not be
 * checked, nor emit_stride where there are no requests.
 *
 * FLOATING POINT. A function returns with the rounding mode, and with the treatment of subnormal
 * numbers, that it was called with.
 *
 * LIMITS. A pass holds up to DFLASH_MOST_ROWS * (draft_budget + 1) rows a request. Trees of up to
 * 65535 nodes, vocabularies up to 2^20, sizes up to 2^40 in all: use 64-bit arithmetic. What is
 * beyond may be refused and need not be. Scratch memory is yours to allocate and to free; it must not
 * grow with the logits.
 *
 * Sources: Miao et al. 2023, "SpecInfer"; Cai et al. 2024, "Medusa"; tree verification for DFlash
 * block drafters (arXiv 2602.06036).
 */

#ifdef __cplusplus
extern "C" {
#endif

enum { DFLASH_ABI_VERSION = 1, DFLASH_MOST_ROWS = 32 };

enum DflashStatus { DFLASH_OK = 0, DFLASH_UNSUPPORTED = -1, DFLASH_BAD_ARGUMENT = -2 };

enum DflashDevice { DFLASH_HOST = 0, DFLASH_CUDA = 1 };

typedef struct DflashBuildArgs {
  int32_t abi_version; /* DFLASH_ABI_VERSION */
  int32_t struct_size; /* sizeof(DflashBuildArgs) of the caller */
  int32_t device;      /* enum DflashDevice: where all arrays lie */
  int32_t num_threads; /* host threads at work at most, the caller's included; 1 to 1024 */
  int32_t min_align;   /* bytes; see ALIGNMENT */
  int32_t reserved;    /* 0 */
  void* stream;        /* CUDA stream to launch on; null on the host */

  int64_t num_trees;             /* >= 0 */
  int64_t mask_words;            /* 64-bit words of a mask row; 64 * mask_words >= n+1 of every tree */
  const int64_t* node_start;     /* [num_trees + 1] */
  const int32_t* parent;         /* [node_start[num_trees]] */
  const int64_t* context_length; /* [num_trees] tokens committed before the root */

  uint64_t* mask;    /* [rows][mask_words], rows = node_start[num_trees] + num_trees */
  int64_t* position; /* [rows] */
} DflashBuildArgs;

typedef struct DflashVerifyArgs {
  int32_t abi_version;
  int32_t struct_size; /* sizeof(DflashVerifyArgs) of the caller */
  int32_t device;
  int32_t num_threads;
  int32_t min_align;
  int32_t reserved;
  void* stream;

  int64_t num_trees; /* >= 0 */
  int64_t vocab;     /* >= 1 */
  int64_t num_eos;   /* >= 0 */
  int64_t logits_stride;     /* floats from row to row, >= vocab */
  const int64_t* node_start; /* [num_trees + 1] */
  const int32_t* parent;     /* [node_start[num_trees]] */
  const int32_t* token;      /* [node_start[num_trees]] */
  const int32_t* eos;        /* [num_eos] end-of-sequence tokens */
  const int64_t* max_emit;   /* [num_trees] >= 0 */
  const float* logits;       /* [rows][logits_stride], rows = node_start[num_trees] + num_trees */

  int32_t* emit;     /* [rows] */
  int32_t* path;     /* [rows] */
  int64_t* num_emit; /* [num_trees] */
  int64_t* num_path; /* [num_trees] */
} DflashVerifyArgs;

typedef struct DflashDraft {
  int64_t num_requests;          /* in */
  int64_t num_tokens;            /* in: sum of context_length */
  int64_t budget;                /* in: nodes wanted at most for each, 0..draft_budget */
  const int64_t* request;        /* in [num_requests] */
  const int64_t* context_length; /* in [num_requests] */
  const int32_t* context;        /* in [num_tokens] the contexts, one after the other */
  int64_t* num_nodes;            /* out [num_requests] */
  int32_t* parent;               /* out [num_requests][budget] */
  int32_t* token;                /* out [num_requests][budget] */
} DflashDraft;

typedef struct DflashForward {
  int64_t num_requests;          /* in */
  int64_t num_rows;              /* in: sum of row_count */
  int64_t mask_words;            /* in */
  int64_t vocab;                 /* in */
  const int64_t* request;        /* in [num_requests] */
  const int64_t* context_length; /* in [num_requests] committed tokens of the request */
  const int64_t* row_count;      /* in [num_requests] */
  const int32_t* token;          /* in [num_rows] */
  const int64_t* position;       /* in [num_rows] */
  const uint64_t* mask;          /* in [num_rows][mask_words] */
  float* logits;                 /* out [num_rows][vocab] */
} DflashForward;

typedef struct DflashKeep {
  int64_t num_requests;      /* in */
  int64_t num_slots;         /* in: sum of keep_count */
  const int64_t* request;    /* in [num_requests] */
  const int64_t* keep_count; /* in [num_requests] */
  const int64_t* slot;       /* in [num_slots] rows of the request's latest pass, 0 is its first */
} DflashKeep;

typedef struct DflashGenerateArgs {
  int32_t abi_version;
  int32_t struct_size; /* sizeof(DflashGenerateArgs) of the caller */
  int32_t device;
  int32_t num_threads;
  int32_t min_align;
  int32_t reserved;
  void* stream;

  int64_t num_requests; /* >= 0 */
  int64_t vocab;        /* >= 1 */
  int64_t num_eos;      /* >= 0 */
  int64_t draft_budget; /* >= 0, nodes of a tree at most */
  int64_t emit_stride;  /* >= every max_new[r] */
  const int64_t* prompt_start; /* [num_requests + 1] */
  const int32_t* prompt;       /* [prompt_start[num_requests]] */
  const int64_t* max_new;      /* [num_requests] >= 0 */
  const int32_t* eos;          /* [num_eos] */

  void* model;
  int64_t (*draft)(void* model, DflashDraft* request);
  int64_t (*forward)(void* model, DflashForward* request);
  int64_t (*keep)(void* model, DflashKeep* request);

  int32_t* emit;     /* [num_requests][emit_stride] */
  int64_t* num_emit; /* [num_requests] */
  int64_t* rounds;   /* [num_requests] */
  int64_t* accepted; /* [num_requests] */
} DflashGenerateArgs;

int64_t dflash_build(const DflashBuildArgs* args);
int64_t dflash_verify(const DflashVerifyArgs* args);
int64_t dflash_generate(const DflashGenerateArgs* args);

#ifdef __cplusplus
}
#endif
