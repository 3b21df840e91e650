#pragma once

#include "harness/grading/probe.h"

// The questions, by family. Each is one row of the table in grader.cpp.
namespace gauntlet::GAUNTLET_CHALLENGE {

// checks_values.cpp: every element against the oracle
void all_elements(Probe& probe);
void head_dims(Probe& probe);
void short_sequences(Probe& probe);
void negative_scores(Probe& probe);
void single_key(Probe& probe);
void grouped_heads(Probe& probe);
void loud_heads(Probe& probe);
void long_uniform(Probe& probe);

// checks_masks.cpp: who sees whom
void causal_flag(Probe& probe);
void unequal_lengths(Probe& probe);
void windows(Probe& probe);
void empty_rows(Probe& probe);
void existing_keys(Probe& probe);
void unseen_keys(Probe& probe);
void causal_isolation(Probe& probe);

// checks_laws.cpp: laws that hold without knowing the answer
void constant_column(Probe& probe);
void inner_products(Probe& probe);
void directional_derivatives(Probe& probe);
void value_shift(Probe& probe);
void key_shift(Probe& probe);
void linear_in_dout(Probe& probe);

// checks_given.cpp: statistics and factors that the caller brings
void shard_additivity(Probe& probe);
void given_lse(Probe& probe);
void given_output(Probe& probe);
void lse_gradient(Probe& probe);
void delta_output(Probe& probe);
void delta_cancellation(Probe& probe);
void scales(Probe& probe);
void softcap(Probe& probe);

// checks_layout.cpp: where things lie
void strides(Probe& probe);
void shared_rows(Probe& probe);
void alignment(Probe& probe);
void dirty_outputs(Probe& probe);
void empty_problems(Probe& probe);

// checks_call.cpp: how the function is called
void repeatability(Probe& probe);
void thread_counts(Probe& probe);
void optional_outputs(Probe& probe);

// checks_refusals.cpp
void bad_arguments(Probe& probe);
void unsupported_requests(Probe& probe);

// checks_memory.cpp
void memory_slope(Probe& probe);
void memory_limit(Probe& probe);

// checks_speed.cpp
void speed_full(Probe& probe);
void speed_causal(Probe& probe);
void speed_grouped(Probe& probe);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
