#pragma once

#include "harness/grading/probe.h"

namespace gauntlet {
struct ScalingQuestion;
}

// The questions of this challenge, one function each; grader.cpp says what each attacks.
namespace gauntlet::GAUNTLET_CHALLENGE {

// checks_winners.cpp: where in a row, and in which row, the winners are
void random_rows(Probe& probe);
void residue_needles(Probe& probe);
void contiguous_needles(Probe& probe);
void rows_apart(Probe& probe);
void big_indices(Probe& probe);

// checks_order.cpp: values that are hard to tell apart, rows that are already in order
void near_ties(Probe& probe);
void ties(Probe& probe);
void narrow_range(Probe& probe);
void sorted_rows(Probe& probe);
void full_sort(Probe& probe);

// checks_softmax.cpp: the numbers
void shift_invariance(Probe& probe);
void late_maximum(Probe& probe);
void flat_rows(Probe& probe);
void underflow(Probe& probe);
void temperature(Probe& probe);
void careful_sums(Probe& probe);

// checks_values.cpp: infinities, NaN, signs
void masked_rows(Probe& probe);
void negative_rows(Probe& probe);
void row_isolation(Probe& probe);

// checks_laws.cpp: what any right answer obeys, whatever the oracle says
void permuted_columns(Probe& probe);
void prefixes(Probe& probe);

// checks_layout.cpp: lengths, strides, alignment, what is asked for and what is not
void valid_lengths(Probe& probe);
void row_strides(Probe& probe);
void unaligned_pointers(Probe& probe);
void optional_outputs(Probe& probe);

// checks_execution.cpp: threads, large batches, repetition
void thread_counts(Probe& probe);
void large_batch(Probe& probe);
void repeated_calls(Probe& probe);

// checks_refusals.cpp: calls that must be turned down
void bad_arguments(Probe& probe);
void unsupported_requests(Probe& probe);

// checks_memory.cpp and checks_speed.cpp
void peak_memory(Probe& probe);
void speed(Probe& probe);
void speed_in_any_order(Probe& probe);
ScalingQuestion growth_in_vocabulary();

}  // namespace gauntlet::GAUNTLET_CHALLENGE
