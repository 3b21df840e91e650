#pragma once

#include "harness/grading/probe.h"

namespace gauntlet {
struct ScalingQuestion;
}

// The questions of this challenge, one function each; grader.cpp says what each attacks.
namespace gauntlet::GAUNTLET_CHALLENGE {

// checks_softmax.cpp: where along the keys the large scores are
void sharp_scores(Probe& probe);
void climbing_scores(Probe& probe);
void falling_scores(Probe& probe);
void overflow_ramp(Probe& probe);
void needles(Probe& probe);

// checks_extremes.cpp: scores that a finite stand-in for infinity would meet
void very_negative_scores(Probe& probe);
void loud_masked_keys(Probe& probe);
void negative_tail(Probe& probe);
void long_uniform(Probe& probe);
void loud_and_quiet_heads(Probe& probe);

// checks_masks.cpp: who sees whom
void causal_alignment(Probe& probe);
void window_support(Probe& probe);
void padded_keys(Probe& probe);
void late_windows(Probe& probe);

// checks_laws.cpp: what any right answer obeys, whatever the oracle says
void row_sums(Probe& probe);
void shift_laws(Probe& probe);
void permutations(Probe& probe);
void split_and_merge(Probe& probe);
void causal_prefix(Probe& probe);

// checks_shapes.cpp: sizes, heads, scales
void head_dims(Probe& probe);
void grouped_heads(Probe& probe);
void tiny_shapes(Probe& probe);
void scale_and_softcap(Probe& probe);
void many_heads(Probe& probe);
void long_sequences(Probe& probe);

// checks_layout.cpp: strides, alignment, memory that is not the tensor
void strides(Probe& probe);
void unaligned_pointers(Probe& probe);
void poisoned_memory(Probe& probe);
void optional_lse(Probe& probe);

// checks_execution.cpp: threads, repetition
void thread_counts(Probe& probe);
void same_bits(Probe& probe);

// checks_refusals.cpp: calls that must be turned down
void bad_arguments(Probe& probe);
void unsupported_requests(Probe& probe);

// checks_memory.cpp and checks_speed.cpp
void memory_slope(Probe& probe);
void peak_memory(Probe& probe);
void speed_dim_64(Probe& probe);
void speed_dim_128(Probe& probe);
void speed_causal(Probe& probe);
void speed_short_sequences(Probe& probe);
ScalingQuestion growth_in_length();

}  // namespace gauntlet::GAUNTLET_CHALLENGE
