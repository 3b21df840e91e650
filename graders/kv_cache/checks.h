#pragma once

#include "harness/grading/probe.h"

// The questions of this challenge, one function each; grader.cpp says what each attacks.
namespace gauntlet::GAUNTLET_CHALLENGE {

// checks_attention.cpp: which keys count, and how much
void decode_steps(Probe& probe);
void ragged_batch(Probe& probe);
void needles(Probe& probe);
void negative_scores(Probe& probe);
void causal_chunk(Probe& probe);
void head_groups(Probe& probe);
void odd_dimensions(Probe& probe);
void empty_sequences(Probe& probe);
void sliding_window(Probe& probe);
void lse_of_equal_keys(Probe& probe);

// checks_pages.cpp: pages, tables, and what lies in them that is not in use
void page_sizes(Probe& probe);
void page_order(Probe& probe);
void stale_table(Probe& probe);
void stale_slots(Probe& probe);
void unseen_tokens(Probe& probe);
void nan_isolation(Probe& probe);
void fork_divergence(Probe& probe);
void rollback(Probe& probe);
void out_of_pages(Probe& probe);
void nothing_new(Probe& probe);

// checks_splits.cpp: the same in pieces
void chunked_prefill(Probe& probe);
void split_keys(Probe& probe);
void merge_parts(Probe& probe);
void merge_extremes(Probe& probe);
void merge_nesting(Probe& probe);

// checks_storage.cpp: what is stored, and in how many bytes
void storage_bounds(Probe& probe);
void narrow_groups(Probe& probe);
void channel_ramps(Probe& probe);
void token_scales(Probe& probe);
void tokens_apart(Probe& probe);
void page_bytes(Probe& probe);

// checks_operations.cpp: random sequences of operations, and the shortest that fails
void random_operations(Probe& probe);

// checks_execution.cpp: processes, threads, addresses, large inputs
void state_with_caller(Probe& probe);
void two_caches(Probe& probe);
void unaligned_pointers(Probe& probe);
void thread_counts(Probe& probe);
void deterministic_bits(Probe& probe);
void long_context(Probe& probe);
void optional_lse(Probe& probe);

// checks_refusals.cpp: calls that must be turned down
void bad_arguments(Probe& probe);
void unsupported_requests(Probe& probe);

// checks_cost.cpp and checks_speed.cpp
void append_cost(Probe& probe);
void window_cost(Probe& probe);
void attend_memory(Probe& probe);
void speed(Probe& probe);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
