// Which questions are asked, and why these. Numbers are those of the design notes' list for this
// challenge; where one is absent, its reason stands here.
//
//   1  random_rows                          15  negative_rows
//   2  residue_needles                      16  row_isolation
//   3  contiguous_needles                   17  valid_lengths
//   4  rows_apart                           18  row_strides, unaligned_pointers
//   5  near_ties                            21  permuted_columns
//   6  ties                                 22  prefixes
//   7  narrow_range                         23  temperature, bad_arguments
//   8  sorted_rows                          24  repeated_calls
//   9  shift_invariance                     25  full_sort
//  10  late_maximum                         26  big_indices
//  11  flat_rows, careful_sums              27  peak_memory
//  12  underflow                            29  random_rows (k and entries around powers of two)
//  13  flat_rows                            P2  speed_in_any_order
//  14  masked_rows
//  of our own: optional_outputs, thread_counts, large_batch, unsupported_requests, speed
//
//  19  (16-bit logits): only float32 is graded; others may be refused.
//  20  (2^31 logits): 8 GiB of input; no cpu round has them.
//  28  (values and indices agree): every probability is compared with the one of its own index, so
//      that nothing is left for a check of its own.
#include "harness/grading/grader.h"

#include "checks.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
using enum Section;
using enum Severity;

Grader make_grader();

Grader make_grader() {
  Grader grader{{
      {{"residue_needles", "candidates lost where one thread or lane holds many winners",
        correctness, 3, critical},
       residue_needles},
      {{"rows_apart", "candidates, maxima or sums of one row in another", correctness, 3, critical},
       rows_apart},
      {{"random_rows", "sizes of k or of the row that were never tried", correctness, 3, critical},
       random_rows},
      {{"contiguous_needles", "candidates lost where one block holds all winners", correctness, 2,
        critical},
       contiguous_needles},
      {{"near_ties", "comparison by fewer bits than the value has", correctness, 2, critical},
       near_ties},
      {{"ties", "equal entries taken twice, left out, or in another order", correctness, 2,
        critical},
       ties},
      {{"narrow_range", "candidate buffers that overflow when values are close", correctness, 2,
        critical},
       narrow_range},
      {{"shift_invariance", "exponentials that overflow or underflow", correctness, 2, critical},
       shift_invariance},
      {{"late_maximum", "a running sum that is not rescaled, or the wrong way", correctness, 2,
        critical},
       late_maximum},
      {{"flat_rows", "probabilities divided by the sum of the winners; short sums", correctness, 2,
        critical},
       flat_rows},
      {{"masked_rows", "NaN, missing or repeated indices where logits are -inf", correctness, 2,
        critical},
       masked_rows},
      {{"negative_rows", "a finite number standing for -inf; -0 below +0", correctness, 2,
        critical},
       negative_rows},
      {{"temperature", "scale left out, applied twice or after the softmax", correctness, 1, major},
       temperature},
      {{"sorted_rows", "stale thresholds on rows that are in order already", correctness, 1, major},
       sorted_rows},
      {{"full_sort", "k equal to the length of the row, k of one", correctness, 1, major},
       full_sort},
      {{"permuted_columns", "an answer that depends on the place of the winners", correctness, 1,
        major},
       permuted_columns},
      {{"prefixes", "a choice that changes with k", correctness, 1, major}, prefixes},
      {{"underflow", "probabilities far below the largest", correctness, 1, major}, underflow},
      {{"careful_sums", "digits lost in one long float sum", correctness, 1, minor}, careful_sums},

      {{"row_isolation", "a NaN or an infinity that leaves its row", robustness, 2, critical},
       row_isolation},
      {{"row_strides", "rows taken to be adjacent", robustness, 2, critical}, row_strides},
      {{"unaligned_pointers", "wider alignment than promised, reads behind the end", robustness, 2,
        critical},
       unaligned_pointers},
      {{"valid_lengths", "entries behind a row's length", robustness, 2, major}, valid_lengths},
      {{"big_indices", "indices kept in a float or in 16 bits", robustness, 1, major}, big_indices},
      {{"repeated_calls", "state that survives a call; races between threads", robustness, 1,
        major},
       repeated_calls},
      {{"thread_counts", "parts of a row, or rows, lost between threads", robustness, 2, major},
       thread_counts},
      {{"large_batch", "paths that are taken for large batches only", robustness, 2, major},
       large_batch},
      {{"optional_outputs", "outputs that are not wanted; no rows", robustness, 1, major},
       optional_outputs},
      {{"bad_arguments", "arguments that make no sense, acted upon", robustness, 0.5, minor},
       bad_arguments},
      {{"unsupported_requests", "types and versions that are not implemented, taken for others",
        robustness, 0.5, minor},
       unsupported_requests},

      {{"peak_memory", "probabilities of the whole batch written down", performance, 1.5, critical},
       peak_memory},
      {{"speed", "slowness", performance, 3, minor}, speed},
      {{"speed_in_any_order", "speed on friendly data only", performance, 2, minor},
       speed_in_any_order},
  }};
  grader.scaling = growth_in_vocabulary();
  return grader;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
