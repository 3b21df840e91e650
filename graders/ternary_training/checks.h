#pragma once

#include <memory>

#include "harness/grading/probe.h"

// The questions of this challenge, one function each; grader.cpp says what each attacks.
namespace gauntlet::GAUNTLET_CHALLENGE {

class Course;

// checks_quantizer.cpp: codes and scales of given weights
void half_ties(Probe& probe);
void group_scales(Probe& probe);
void quantized_rows_apart(Probe& probe);
void tiny_and_zero_groups(Probe& probe);
void signs(Probe& probe);
void mean_rounding(Probe& probe);
void quantized_again(Probe& probe);

// checks_gradient.cpp: one linear layer with the straight-through estimator
void layer_output(Probe& probe);
void input_gradient(Probe& probe);
void weight_gradient(Probe& probe);
void gradient_of_far_weights(Probe& probe);
void latent_weights_hidden(Probe& probe);

// checks_forward.cpp: logits of checkpoints that nobody trained
void forward_logits(Probe& probe);
void rotary_positions(Probe& probe);
void norm_gains(Probe& probe);
void causal(Probe& probe);

// checks_refusals.cpp: calls that must be turned down
void refused_checkpoints(Probe& probe);
void bad_arguments(Probe& probe);
void bad_lessons(Probe& probe);
void small_capacity(Probe& probe);
void unsupported_requests(Probe& probe);

// checks_checkpoint.cpp: what the graded run wrote, as a file
void checkpoint_format(Probe& probe, Course& course);
void ternary_coverage(Probe& probe, Course& course);
void every_tensor_matters(Probe& probe, Course& course);
void every_tensor_moved(Probe& probe, Course& course);

// checks_text.cpp: what it knows
void hidden_text(Probe& probe, Course& course);
void pairs_of_tokens(Probe& probe, Course& course);
void memorisation(Probe& probe, Course& course);
void honest_claims(Probe& probe, Course& course);
void canaries(Probe& probe, Course& course);
void perplexity(Probe& probe, Course& course);

// checks_sources.cpp: other runs, other texts
void known_entropy(Probe& probe);
void relabelled_tokens(Probe& probe);
void unseen_tokens(Probe& probe);

// checks_limits.cpp: when training ends, and what it says meanwhile
void time_limit(Probe& probe, Course& course);
void token_limit(Probe& probe);
void tokens_counted(Probe& probe);
void early_stop(Probe& probe);
void progress_reported(Probe& probe, Course& course);

// checks_shapes.cpp: models and texts of other sizes
void odd_shapes(Probe& probe);
void group_sizes(Probe& probe);
void odd_documents(Probe& probe);

// checks_execution.cpp: threads, alignment, repetition
void determinism(Probe& probe);
void thread_counts(Probe& probe);
void unaligned_arrays(Probe& probe);
void unaligned_training(Probe& probe);
void repeated_calls(Probe& probe);

// checks_speed.cpp
void forward_speed(Probe& probe);
void quantize_speed(Probe& probe);
void gradient_speed(Probe& probe);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
