#pragma once

#include "harness/grading/probe.h"

namespace gauntlet {
struct ScalingQuestion;
}

// The questions of this challenge, one function each; grader.cpp says what each attacks.
namespace gauntlet::GAUNTLET_CHALLENGE {

// checks_gradients.cpp: all elements against the oracle
void all_gradients(Probe& probe);
void forward_values(Probe& probe);
void variance_divisor(Probe& probe);
void single_column(Probe& probe);
void rows_apart(Probe& probe);
void needles(Probe& probe);
void gamma_zeros(Probe& probe);

// checks_scale.cpp: inputs that float arithmetic finds hard
void offset_ladder(Probe& probe);
void offset_accuracy(Probe& probe);
void tiny_variance(Probe& probe);
void outlier(Probe& probe);
void big_magnitude(Probe& probe);

// checks_laws.cpp: what any right answer obeys, whatever the oracle says
void row_sums_vanish(Probe& probe);
void eps_identity(Probe& probe);
void gradient_scaling(Probe& probe);
void shift_and_scale(Probe& probe);

// checks_sums.cpp: sums over many rows
void biased_gradient(Probe& probe);
void many_rows(Probe& probe);

// checks_state.cpp: where the statistics come from
void external_statistics(Probe& probe);
void saved_state(Probe& probe);

// checks_layout.cpp: strides, alignment, what is asked for and what is not
void row_strides(Probe& probe);
void unaligned_pointers(Probe& probe);
void optional_outputs(Probe& probe);
void optional_parameters(Probe& probe);
void zero_rows(Probe& probe);
void dirty_outputs(Probe& probe);

// checks_execution.cpp: threads, repetition, contamination
void thread_counts(Probe& probe);
void large_step(Probe& probe);
void deterministic_bits(Probe& probe);
void row_isolation(Probe& probe);

// checks_refusals.cpp: calls that must be turned down
void bad_arguments(Probe& probe);
void unsupported_requests(Probe& probe);

// checks_memory.cpp and checks_speed.cpp
void saved_bytes(Probe& probe);
void peak_memory(Probe& probe);
void speed(Probe& probe);
ScalingQuestion growth_in_rows();

}  // namespace gauntlet::GAUNTLET_CHALLENGE
