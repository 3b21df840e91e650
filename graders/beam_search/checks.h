#pragma once

#include "harness/grading/probe.h"

// The questions of this challenge, one function each; grader.cpp says what each attacks.
namespace gauntlet::GAUNTLET_CHALLENGE {

// checks_policy.cpp: what finished hypotheses compete with, and by which rule
void finished_compete(Probe& probe);
void policies_apart(Probe& probe);
void random_pooled(Probe& probe);
void random_separate(Probe& probe);

// checks_score.cpp: lengths, penalties and sums
void length_bookkeeping(Probe& probe);
void prompt_lengths(Probe& probe);
void greedy_path(Probe& probe);
void given_log_probs(Probe& probe);
void wide_sums(Probe& probe);
void vast_log_probs(Probe& probe);

// checks_expansion.cpp: which extensions are looked at
void eos_takes_places(Probe& probe);
void finishing_rank(Probe& probe);
void eos_everywhere(Probe& probe);
void first_step(Probe& probe);
void few_candidates(Probe& probe);
void ties(Probe& probe);

// checks_stopping.cpp: when an item is done, and what is left then
void stop_rules(Probe& probe);
void negative_alpha(Probe& probe);
void late_better(Probe& probe);
void min_length(Probe& probe);
void nothing_finishes(Probe& probe);
void short_horizons(Probe& probe);
void long_horizon(Probe& probe);

// checks_state.cpp: whose state and whose tokens go on
void crossing_beams(Probe& probe);
void one_parent(Probe& probe);
void batch_independence(Probe& probe);
void thread_counts(Probe& probe);

// checks_sizes.cpp: long rows, many beams, many EOS ids
void long_rows(Probe& probe);
void wide_beams(Probe& probe);

// checks_refusals.cpp: calls that must be turned down, and a model that fails
void bad_arguments(Probe& probe);
void unsupported_requests(Probe& probe);
void model_failure(Probe& probe);
void optional_outputs(Probe& probe);

// checks_cost.cpp: what the model is asked, and memory
void requests(Probe& probe);
void rows(Probe& probe);
void done_items_rest(Probe& probe);
void peak_memory(Probe& probe);

// checks_speed.cpp
void speed(Probe& probe);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
