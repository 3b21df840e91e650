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

#include "graders/kit/groups.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

ScalingQuestion growth_in_vocabulary();
// Each group stands in the file of its name, which declares its checks beside their code.
std::vector<Check> winners_checks();  // where in a row, and in which row, the winners are
std::vector<Check>
order_checks();  // values that are hard to tell apart, rows that are already in order
std::vector<Check> softmax_checks();  // the numbers
std::vector<Check> values_checks();   // infinities, NaN, signs
std::vector<Check> laws_checks();     // what any right answer obeys, whatever the oracle says
std::vector<Check>
layout_checks();  // lengths, strides, alignment, what is asked for and what is not
std::vector<Check> execution_checks();  // threads, large batches, repetition
std::vector<Check> refusals_checks();   // calls that must be turned down
std::vector<Check> memory_checks();     // memory
std::vector<Check> speed_checks();      // speed

Grader make_grader();

Grader make_grader() {
  return {kit::joined({winners_checks(), order_checks(), softmax_checks(), values_checks(),
                       laws_checks(), layout_checks(), execution_checks(), refusals_checks(),
                       memory_checks(), speed_checks()}),
          growth_in_vocabulary()};
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
