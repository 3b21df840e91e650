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

#include "graders/kit/groups.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

// Each group stands in the file of its name, which declares its checks beside their code.
std::vector<Check> attention_checks();  // which keys count, and how much
std::vector<Check> pages_checks();      // pages, tables, and what lies in them that is not in use
std::vector<Check> splits_checks();     // the same in pieces
std::vector<Check> storage_checks();    // what is stored, and in how many bytes
std::vector<Check>
operations_checks();  // random sequences of operations, and the shortest that fails
std::vector<Check> execution_checks();  // processes, threads, addresses, large inputs
std::vector<Check> refusals_checks();   // calls that must be turned down
std::vector<Check> cost_checks();       // cost
std::vector<Check> speed_checks();      // speed

Grader make_grader();

Grader make_grader() {
  return {kit::joined({attention_checks(), pages_checks(), splits_checks(), storage_checks(),
                       operations_checks(), execution_checks(), refusals_checks(), cost_checks(),
                       speed_checks()})};
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
