// Which questions are asked, and why these. Numbers are those of the design notes' list for this
// challenge; where one is absent, its reason stands here.
//
//   1  all_gradients, forward_values        16  variance_divisor
//   2  row_sums_vanish                      17  zero_rows
//   3  eps_identity                         18  gamma_zeros
//   4  tiny_variance                        19  gradient_scaling
//   5  offset_ladder, offset_accuracy       20  shift_and_scale
//   7  big_magnitude                        21  rows_apart
//   8  outlier                              22  row_isolation
//   9  biased_gradient                      23  dirty_outputs
//  10  many_rows                            24  deterministic_bits
//  12  optional_parameters, _outputs        27  external_statistics
//  13  row_strides, unaligned_pointers      28  saved_bytes, peak_memory
//  15  single_column
//  of our own: needles, saved_state, thread_counts, large_step, bad_arguments,
//  unsupported_requests, speed
//
//   6  (offset 1e8) is a rule for inputs: in float32 the deviation is rounded away there.
//  11  (several normalised axes): the contract has one; callers flatten.
//  14  (2^31 elements): 24 GiB of arrays; no cpu round has them.
//  25  (finite differences) need float64 data. The oracle itself is held to them in its test.
//  26  (mixed types): only float32 is graded; others may be refused.
//  29  (aliasing): the contract excludes it.
#include "harness/grading/grader.h"

#include "checks.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
using enum Section;
using enum Severity;

Grader make_grader();

Grader make_grader() {
  Grader grader{{
      {{"all_gradients", "gradients that hold for gamma = 1, or for friendly sizes, only",
        correctness, 3, critical},
       all_gradients},
      {{"offset_ladder", "variance by subtraction of squares: rows far from zero", correctness, 3,
        critical},
       offset_ladder},
      {{"offset_accuracy", "digits lost with the mean of rows far from zero", correctness, 1,
        minor},
       offset_accuracy},
      {{"tiny_variance", "eps in the wrong place; constant rows", correctness, 2, critical},
       tiny_variance},
      {{"eps_identity", "eps added to another quantity than the variance", correctness, 2,
        critical},
       eps_identity},
      {{"row_sums_vanish", "projection on the mean left out, or taken twice", correctness, 2,
        critical},
       row_sums_vanish},
      {{"variance_divisor", "variance divided by cols - 1", correctness, 2, critical},
       variance_divisor},
      {{"rows_apart", "one row's statistics or loudness leaking into another", correctness, 2,
        critical},
       rows_apart},
      {{"biased_gradient", "short accumulators of dgamma and dbeta", correctness, 2, critical},
       biased_gradient},
      {{"external_statistics", "recomputing statistics that the caller brings", correctness, 2,
        major},
       external_statistics},
      {{"forward_values", "a forward pass that is only good enough for its own backward",
        correctness, 1, major},
       forward_values},
      {{"needles", "elements that no thread or vector lane visits", correctness, 1, major},
       needles},
      {{"gamma_zeros", "division by gamma", correctness, 1, major}, gamma_zeros},
      {{"single_column", "one and two columns, where a row has no variance to speak of",
        correctness, 1, major},
       single_column},
      {{"gradient_scaling", "anything that is not linear in dy: clipping, skipping, saturation",
        correctness, 1, major},
       gradient_scaling},
      {{"shift_and_scale", "dependence on the position and unit of x", correctness, 1, major},
       shift_and_scale},
      {{"outlier", "one large element in a row", correctness, 1, major}, outlier},
      {{"big_magnitude", "intermediate powers that leave the range of float", correctness, 0.5,
        minor},
       big_magnitude},

      {{"many_rows", "row counts that do not fit into 16 bits", robustness, 2, critical},
       many_rows},
      {{"row_strides", "rows taken to be adjacent, gaps between them read or written", robustness,
        2, critical},
       row_strides},
      {{"unaligned_pointers", "wider alignment than promised, reads behind the end", robustness, 2,
        critical},
       unaligned_pointers},
      {{"dirty_outputs", "adding to what the output held", robustness, 2, critical}, dirty_outputs},
      {{"zero_rows", "no rows, one row", robustness, 1, major}, zero_rows},
      {{"optional_outputs", "outputs that are not wanted, or wanted alone", robustness, 1, major},
       optional_outputs},
      {{"optional_parameters", "gamma and beta left out", robustness, 1, major},
       optional_parameters},
      {{"row_isolation", "a NaN or an infinity that leaves its row", robustness, 1, major},
       row_isolation},
      {{"saved_state", "state kept elsewhere than in the saved bytes", robustness, 2, major},
       saved_state},
      {{"thread_counts", "rows lost or doubled between threads", robustness, 2, major},
       thread_counts},
      {{"large_step", "paths that are taken for large inputs only; threads that race", robustness,
        2, major},
       large_step},
      {{"deterministic_bits", "results that depend on how threads interleave", robustness, 1,
        minor},
       deterministic_bits},
      {{"bad_arguments", "arguments that make no sense, acted upon", robustness, 0.5, minor},
       bad_arguments},
      {{"unsupported_requests", "types and versions that are not implemented, taken for others",
        robustness, 0.5, minor},
       unsupported_requests},

      {{"saved_bytes", "saving xhat instead of the statistics", performance, 1, major},
       saved_bytes},
      {{"peak_memory", "scratch memory that grows with the input", performance, 1, major},
       peak_memory},
      {{"speed", "slowness", performance, 4, minor}, speed},
  }};
  grader.scaling = growth_in_rows();
  return grader;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
