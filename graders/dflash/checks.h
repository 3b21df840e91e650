#pragma once

#include "harness/grading/probe.h"

// The questions of this challenge, one function each; grader.cpp says what each attacks.
namespace gauntlet::GAUNTLET_CHALLENGE {

// checks_walk.cpp: which rows are read, on trees that branch
void branching_trees(Probe& probe);
void parent_rows(Probe& probe);
void rejected_subtrees(Probe& probe);
void node_order(Probe& probe);
void duplicate_siblings(Probe& probe);

// checks_stop.cpp: where emitting ends
void bonus_token(Probe& probe);
void end_of_sequence(Probe& probe);
void emit_limits(Probe& probe);

// checks_choice.cpp: the target's choice, and tokens that can never be it
void choice_rule(Probe& probe);
void strange_tokens(Probe& probe);

// checks_build.cpp: masks and positions
void tree_masks(Probe& probe);
void row_positions(Probe& probe);

// checks_generate.cpp: whole requests, equal to greedy decoding
void greedy_equality(Probe& probe);
void scattered_paths(Probe& probe);
void wide_passes(Probe& probe);
void generation_limits(Probe& probe);
void plausible_drafts(Probe& probe);

// checks_rounds.cpp: what one round must not leave to the next, or one request to another
void several_requests(Probe& probe);
void shrinking_trees(Probe& probe);
void total_rejection(Probe& probe);

// checks_counts.cpp: how often the target is asked, and what is said about it
void passes_on_branches(Probe& probe);
void passes_on_chains(Probe& probe);
void one_pass_for_all(Probe& probe);
void ended_requests(Probe& probe);
void draft_context(Probe& probe);
void reported_counts(Probe& probe);

// checks_sizes.cpp: trees of thousands of nodes, hundreds of trees and requests
void big_trees(Probe& probe);
void many_at_once(Probe& probe);

// checks_execution.cpp: alignment, threads, repetition, empty sizes, failing callbacks
void unaligned_arrays(Probe& probe);
void thread_counts(Probe& probe);
void fresh_answers(Probe& probe);
void empty_sizes(Probe& probe);
void failing_callbacks(Probe& probe);

// checks_refusals.cpp: calls that must be turned down
void bad_arguments(Probe& probe);
void bad_drafts(Probe& probe);

// checks_cost.cpp and checks_speed.cpp
void forward_passes(Probe& probe);
void forward_rows(Probe& probe);
void scratch_memory(Probe& probe);
void verify_speed(Probe& probe);
void build_speed(Probe& probe);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
