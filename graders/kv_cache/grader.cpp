// Which questions are asked, and why these. Numbers are those of the design notes' list for this
// challenge; where one is absent, its reason stands here.
//
//   1  decode_steps                          17  fork_divergence
//   2  ragged_batch                          18  random_operations
//   3  needles                               19  rollback
//   4  page_order, fork_divergence           20  sliding_window
//   5  stale_table                           21  out_of_pages
//   6  stale_slots, unseen_tokens            22  nothing_new
//   7  negative_scores                       23  storage_bounds
//   8  chunked_prefill                       24  narrow_groups
//   9  causal_chunk                          25  channel_ramps
//  10  head_groups                           26  token_scales
//  11  odd_dimensions                        28  tokens_apart, chunked_prefill
//  12  page_sizes                            29  tokens_apart
//  13  empty_sequences                       30  page_bytes, attend_memory
//  14  split_keys, merge_parts               33  lse_of_equal_keys
//  15  merge_extremes                        34  append_cost, window_cost
//  16  split_keys, merge_nesting
//  of our own: nan_isolation, state_with_caller, two_caches, unaligned_pointers, thread_counts,
//  deterministic_bits, long_context, optional_lse, bad_arguments, unsupported_requests, speed
//
//  20  has windows with a right end as well; causality is the only one here.
//  27  (outlier channels of keys) compares ways to group; the contract has one, along a token.
//  31  (2^31 elements): 8 GiB of pool; no cpu round has them.
//  32  (batch invariance of bits) is no promise of the contract. That a sequence has the same
//  result
//      alone and in a batch follows from the oracle, which knows no batch.
//
// Two levels hold the quantised types: what kv_read says is stored is compared with what was
// appended (storage_allowed), and attention with float64 over what kv_read says. Everything about a
// cache lies in the caller's memory, whose size the contract bounds, so that no other copy can be
// what the answers come from.
#include "harness/grading/grader.h"

#include "checks.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
using enum Section;
using enum Severity;

Grader make_grader();

Grader make_grader() {
  return {{
      {{"ragged_batch", "one sequence's length taken for another's", correctness, 3, critical},
       ragged_batch},
      {{"stale_slots", "slots without a token that take part in the result", correctness, 3,
        critical},
       stale_slots},
      {{"stale_table", "table entries that are not in use, followed", correctness, 3, critical},
       stale_table},
      {{"decode_steps", "the newest token missed, or one that is not there yet seen", correctness,
        2, critical},
       decode_steps},
      {{"needles", "keys that no thread, lane or page visits", correctness, 2, critical}, needles},
      {{"negative_scores", "padding that scores zero", correctness, 2, critical}, negative_scores},
      {{"causal_chunk", "queries that see what lies ahead of them", correctness, 2, critical},
       causal_chunk},
      {{"chunked_prefill", "positions counted from the start of the chunk", correctness, 2,
        critical},
       chunked_prefill},
      {{"head_groups", "query heads that read another head's keys", correctness, 2, critical},
       head_groups},
      {{"empty_sequences", "division by an empty sum", correctness, 2, critical}, empty_sequences},
      {{"sliding_window", "a window that is off by one", correctness, 2, critical}, sliding_window},
      {{"lse_of_equal_keys", "lse in another base, unscaled, or without its maximum", correctness,
        1, critical},
       lse_of_equal_keys},
      {{"split_keys", "parts of the keys, empty ones too, that do not add up to the whole",
        correctness, 2, critical},
       split_keys},
      {{"merge_parts", "results averaged without their weights", correctness, 1, critical},
       merge_parts},
      {{"merge_extremes", "weights of merged parts that overflow, and rows without any",
        correctness, 1, critical},
       merge_extremes},
      {{"merge_nesting", "merged results that cannot be merged again", correctness, 0.5, major},
       merge_nesting},
      {{"storage_bounds", "codes further off than half a step", correctness, 3, critical},
       storage_bounds},
      {{"channel_ramps", "codes packed in one order and unpacked in another", correctness, 1,
        critical},
       channel_ramps},
      {{"token_scales", "scales of another token, head, group, or of keys for values", correctness,
        2, critical},
       token_scales},
      {{"narrow_groups", "ranges that start at zero, or take in padding", correctness, 1, major},
       narrow_groups},
      {{"tokens_apart", "storage of a token that depends on its company", correctness, 2, critical},
       tokens_apart},
      {{"page_bytes", "storage in more bytes than the type has", correctness, 2, critical},
       page_bytes},
      {{"odd_dimensions", "dimensions that no vector divides, and unequal ones", correctness, 1,
        major},
       odd_dimensions},

      {{"page_order", "pages taken to be adjacent, or in order", robustness, 2, critical},
       page_order},
      {{"page_sizes", "page sizes that are not powers of two, or small", robustness, 1, major},
       page_sizes},
      {{"fork_divergence", "shared pages written by one of their users, or freed under them",
        robustness, 3, critical},
       fork_divergence},
      {{"random_operations", "states that only a history of many operations reaches", robustness, 3,
        critical},
       random_operations},
      {{"rollback", "dropped tokens that come back", robustness, 2, major}, rollback},
      {{"out_of_pages", "a pool that is exceeded, or left half changed", robustness, 2, major},
       out_of_pages},
      {{"nothing_new", "lists and chunks without anything in them", robustness, 1, major},
       nothing_new},
      {{"unseen_tokens", "NaN in tokens that no query sees", robustness, 1, major}, unseen_tokens},
      {{"nan_isolation", "a NaN that leaves its sequence", robustness, 1, major}, nan_isolation},
      {{"state_with_caller", "state kept elsewhere than with the caller", robustness, 2, critical},
       state_with_caller},
      {{"two_caches", "one cache's shape or state taken for another's", robustness, 1, major},
       two_caches},
      {{"unaligned_pointers", "wider alignment than promised, reads behind the end", robustness, 2,
        critical},
       unaligned_pointers},
      {{"thread_counts", "work lost or doubled between threads", robustness, 1, major},
       thread_counts},
      {{"long_context", "paths that are taken for long sequences only", robustness, 2, major},
       long_context},
      {{"optional_lse", "lse written where nobody wants it", robustness, 0.5, major}, optional_lse},
      {{"deterministic_bits", "results that depend on how threads interleave", robustness, 0.5,
        minor},
       deterministic_bits},
      {{"bad_arguments", "arguments that make no sense, acted upon", robustness, 0.5, minor},
       bad_arguments},
      {{"unsupported_requests", "types and versions that are not implemented, taken for others",
        robustness, 0.5, minor},
       unsupported_requests},

      {{"append_cost", "the whole sequence gone through for every new token", performance, 1,
        major},
       append_cost},
      {{"window_cost", "time spent on tokens that no query sees", performance, 1, major},
       window_cost},
      {{"attend_memory", "a copy of the cache, or of what it stands for", performance, 1, major},
       attend_memory},
      {{"speed", "slowness", performance, 4, minor}, speed},
  }};
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
