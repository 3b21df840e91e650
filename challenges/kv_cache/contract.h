#pragma once

#include <stddef.h>
#include <stdint.h>

/* A paged key-value cache for batched incremental attention, in memory that the caller owns.
 *
 * WHAT IS STORED. There are `sequences` sequences, numbered from 0, each a list of lengths[s]
 * tokens. A token is one key vector of key_dim and one value vector of value_dim numbers for each
 * of kv_heads heads. Tokens lie in pages of page_tokens tokens: token t of sequence s is in page
 * table[s][t / page_tokens], in slot t % page_tokens. A page is page_bytes = kv_page_bytes() bytes
 * at pool + page * page_bytes; what these bytes mean is your choice. Several sequences may share a
 * page, none has it twice: refs[p] counts the table entries in use that name page p, 0 for a free
 * page. In use are the first ceil(lengths[s] / page_tokens) entries of row s. A sequence of length
 * 0 uses none.
 *
 * pool, table, lengths and refs are the whole cache. They are passed to every function that needs
 * them and belong to the caller in between, who may copy them, hand them to another process, hold
 * several caches, and give pages other numbers (moving their bytes, changing table and refs to
 * match). What is not in use may hold anything at any time, NaN and wild numbers included, and
 * changes no result: free pages, table entries that are not in use, and the slots of a page behind
 * the last token of every sequence that uses it. Nothing else may be kept between calls that a
 * later result depends on.
 *
 *   kv_page_bytes  bytes of a page for this shape; see STORAGE. Nothing is said about pages,
 *                  sequences and table_width then: they are 0.
 *   kv_append      for i = 0, 1, ... count-1 in this order: appends tokens new_start[i] to
 *                  new_start[i+1]-1 of k and v to sequence which[i]. Takes a free page, any, for
 *                  each page_tokens tokens begun. Where the first of the new tokens falls into a
 *                  page that another table entry in use names as well, the sequence first gets a
 *                  copy of that page as its own, in a free page. Where it alone uses the page, the
 *                  page stays. No other page is taken, and pages of other tokens do not change.
 *   kv_fork        makes sequence `to`, which is empty, equal to sequence `from` by sharing all its
 *                  pages.
 *   kv_truncate    drops all tokens of a sequence behind the first `length`, and the table's hold
 *                  on the pages that this empties. Length 0 frees the sequence.
 *   kv_read        writes what is stored of tokens begin to begin+tokens-1 of one sequence.
 *   kv_attend      attention of queries over what is stored, see below.
 *   kv_merge       joins partial results of kv_attend over disjoint keys, see below.
 *
 * STORAGE. What kv_read and kv_attend see of a number x that was appended:
 *   KV_F32   x, bit for bit.
 *   KV_INT8  8 bits for each number: x to within half of max|x| / 127,
 *   KV_INT4  4 bits for each number: x to within half of (max x - min x) / 15,
 * where max and min run over the group of x: `group` consecutive numbers of one vector, the first
 * group starting at its first number; the last may be shorter. To that come relative 2^-10 of the
 * bound, 2^-20 of max|x|, and 1e-30. Numbers are at most 1e30 in magnitude. What is stored of a
 * token is a function of that token alone: neither neighbours nor the way it came matter. NaN or
 * infinity in a group may spoil that group of that token (KV_F32: that number), nothing else.
 *
 * A vector of n numbers with g = ceil(n / group) groups may take 4n bytes as KV_F32, n + 4g as
 * KV_INT8, ceil(n / 2) + 8g as KV_INT4. A page may take page_tokens * kv_heads times the sum of
 * both for key and value, rounded up to a multiple of 64, and no more.
 *
 * ATTENTION. Queries query_start[i] to query_start[i+1]-1 of q are those of the last tokens of
 * sequence s = which[i]: the last query stands at position lengths[s]-1, the one before at
 * lengths[s]-2, and so on; positions may be negative. The query at position p sees the tokens j
 * with
 *
 *   0 <= j <= p,   j >= p - window (unless window is -1),   key_begin[i] <= j < key_end[i]
 *
 * where key_begin = null stands for 0 and key_end = null for lengths[s]. With head h of the query
 * reading kv head h / (q_heads / kv_heads):
 *
 *   s[j] = scale * sum_d q[d] * k[j][d]
 *   lse  = ln sum_j exp(s[j])                       natural logarithm
 *   out  = sum_j exp(s[j] - lse) * v[j]
 *
 * A query that sees no token has out = 0 and lse = -infinity. Tokens that none of the queries of
 * which[i] sees change none of their results, even when they hold NaN or infinity; what one of them
 * sees may then spoil the results of all.
 *
 * kv_merge takes `parts` results over disjoint sets of keys and gives the result over their union,
 * row by row: with L[p] = part_lse[p][row], lse = ln sum_p exp(L[p]) and
 * out = sum_p exp(L[p] - lse) * part_out[p][row]. A part with L = -infinity is empty: its part_out
 * may hold anything. Without any part that is not empty, out = 0 and lse = -infinity.
 *
 * LAYOUT. Arrays are dense and row-major with the extents in brackets, and do not overlap. k, v, q,
 * out, lse, part_out and part_lse are multiples of min_align bytes, which is a power of two of 4 or
 * more; pool is a multiple of 64. Inputs must not be written. out, lse, and the arrays that kv_read
 * writes hold garbage at first.
 *
 * ACCURACY. kv_attend is compared with the formulas in float64 over what kv_read says is stored:
 * with u = 2^-24, P[j] = exp(s[j] - lse), M = 1 + max_j |scale| sum_d |q[d] k[j][d]| and
 * C = 24 + keys / 64, keys counting those that the query sees, the error of out is at most
 * C u (M sum_j P[j] |v[j]| + 1e-30 sum_j |v[j]|), that of lse C u (M + |lse|). For KV_INT8 and
 * KV_INT4, |k[j][d]| and |v[j]| stand for the largest magnitude in the group. Products and sums in
 * float32 and a good expf reach that with room to spare. kv_merge likewise over its parts, with
 * C = 24 + parts / 16 and M = 1 + max_p |L[p]|. Scores are at most 1e5 in magnitude, numbers
 * of q and part_out 1e30; products of q, k and scale and sums of them, in any order, stay in the
 * range of float32. The same arguments give the same bits.
 *
 * RETURN. 0 when done. KV_FULL, from kv_append only, when pages or the table's width do not suffice
 * for all of the call. KV_BAD_ARGUMENT for a size, count, length or number of tokens below 0;
 * kv_heads, key_dim, value_dim, page_tokens, group or num_threads below 1; q_heads no multiple of
 * kv_heads, or 0; window below -1; which, from, to or sequence outside 0..sequences-1; new_start or
 * query_start decreasing; kv_fork to itself or to a sequence that is not empty; kv_truncate to more
 * than lengths[s]; kv_read of tokens that are not there; key_begin or key_end outside
 * 0..lengths[s], or key_begin > key_end. KV_UNSUPPORTED for another abi_version, device or stored
 * type. Where several refusals apply, any of them is right; kv_read of 0 tokens with begin outside
 * 0..lengths[s] may be refused or not. Where the return value is not 0, all that is in use and all
 * outputs are left as they were.
 *
 * The caller sees to it that new_start and query_start begin with 0, and that `which` has no
 * sequence twice in kv_append; it may in kv_attend. count = 0, lists without tokens and rows = 0
 * are valid; pointers to arrays without elements may be null, as may lse when it is not wanted.
 *
 * FLOATING POINT. A function returns with the rounding mode, and with the treatment of subnormal
 * numbers, that it was called with.
 *
 * LIMITS. Pools may be larger than 4 GiB, sequences longer than 2^20: use 64-bit arithmetic for
 * offsets. key_dim and value_dim up to 256 (that of kv_merge has no limit), q_heads up to 128,
 * group up to 2^63 - 1; neither they nor page_tokens and group need be multiples of anything.
 * Scratch memory is yours to allocate and to free: kv_attend stays below 4 MiB plus 1 KiB per query
 * head and query; it may not copy the cache, nor may its time depend on table_width or on tokens
 * that no query sees.
 *
 * Source: Kwon et al. 2023, "Efficient Memory Management for Large Language Model Serving with
 * PagedAttention"; Liu et al. 2024, "KIVI" (groups with a least value and a step); merging as in
 * FlashInfer's cascade attention.
 */

#ifdef __cplusplus
extern "C" {
#endif

enum { KV_ABI_VERSION = 1 };

enum KvStatus { KV_OK = 0, KV_UNSUPPORTED = -1, KV_BAD_ARGUMENT = -2, KV_FULL = -3 };

enum KvDevice { KV_HOST = 0, KV_CUDA = 1 };

enum KvStored { KV_F32 = 0, KV_INT8 = 1, KV_INT4 = 2 };

typedef struct KvShape {
  int32_t abi_version; /* KV_ABI_VERSION */
  int32_t struct_size; /* sizeof of the struct that the function is called with */
  int32_t device;      /* enum KvDevice: where all pointers point to */
  int32_t num_threads; /* host threads at work at most, the caller's included; 1 to 1024 */
  int32_t stored;      /* enum KvStored */
  int32_t min_align;   /* bytes; see LAYOUT */
  void* stream;        /* CUDA stream to launch on; null on the host */

  int64_t kv_heads;
  int64_t key_dim;
  int64_t value_dim;
  int64_t page_tokens;
  int64_t group; /* numbers; see STORAGE */
  int64_t pages; /* in the pool */
  int64_t sequences;
  int64_t table_width; /* pages that a sequence can have */
} KvShape;

typedef struct KvAppendArgs {
  KvShape shape;
  void* pool;       /* [pages][page_bytes] */
  int32_t* table;   /* [sequences][table_width] */
  int64_t* lengths; /* [sequences] */
  int32_t* refs;    /* [pages] */
  int64_t count;
  const int64_t* which;     /* [count] */
  const int64_t* new_start; /* [count + 1], the first 0 */
  const float* k;           /* [new_start[count]][kv_heads][key_dim] */
  const float* v;           /* [new_start[count]][kv_heads][value_dim] */
} KvAppendArgs;

typedef struct KvForkArgs {
  KvShape shape;
  int32_t* table;
  int64_t* lengths;
  int32_t* refs;
  int64_t from;
  int64_t to;
} KvForkArgs;

typedef struct KvTruncateArgs {
  KvShape shape;
  int32_t* table;
  int64_t* lengths;
  int32_t* refs;
  int64_t sequence;
  int64_t length;
} KvTruncateArgs;

typedef struct KvReadArgs {
  KvShape shape;
  const void* pool;
  const int32_t* table;
  const int64_t* lengths;
  int64_t sequence;
  int64_t begin;
  int64_t tokens;
  float* k; /* [tokens][kv_heads][key_dim] */
  float* v; /* [tokens][kv_heads][value_dim] */
} KvReadArgs;

typedef struct KvAttendArgs {
  KvShape shape;
  const void* pool;
  const int32_t* table;
  const int64_t* lengths;
  int64_t count;
  const int64_t* which;       /* [count] */
  const int64_t* query_start; /* [count + 1], the first 0 */
  const int64_t* key_begin;   /* [count] or null */
  const int64_t* key_end;     /* [count] or null */
  int64_t q_heads;
  int64_t window; /* tokens before its own that a query sees; -1: all */
  float scale;
  int32_t reserved; /* 0 */
  const float* q;   /* [query_start[count]][q_heads][key_dim] */
  float* out;       /* [query_start[count]][q_heads][value_dim] */
  float* lse;       /* [query_start[count]][q_heads], null: not wanted */
} KvAttendArgs;

typedef struct KvMergeArgs {
  int32_t abi_version; /* as in KvShape, the next four too */
  int32_t struct_size;
  int32_t device;
  int32_t num_threads;
  void* stream;
  int64_t parts;
  int64_t rows;
  int64_t value_dim;
  const float* part_out; /* [parts][rows][value_dim] */
  const float* part_lse; /* [parts][rows] */
  float* out;            /* [rows][value_dim] */
  float* lse;            /* [rows], null: not wanted */
} KvMergeArgs;

int64_t kv_page_bytes(const KvShape* shape);
int64_t kv_append(const KvAppendArgs* args);
int64_t kv_fork(const KvForkArgs* args);
int64_t kv_truncate(const KvTruncateArgs* args);
int64_t kv_read(const KvReadArgs* args);
int64_t kv_attend(const KvAttendArgs* args);
int64_t kv_merge(const KvMergeArgs* args);

#ifdef __cplusplus
}
#endif
