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

#include "graders/kit/groups.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

ScalingQuestion growth_in_rows();
// Each group stands in the file of its name, which declares its checks beside their code.
std::vector<Check> gradients_checks();  // all elements against the oracle
std::vector<Check> scale_checks();      // inputs that float arithmetic finds hard
std::vector<Check> laws_checks();       // what any right answer obeys, whatever the oracle says
std::vector<Check> sums_checks();       // sums over many rows
std::vector<Check> state_checks();      // where the statistics come from
std::vector<Check> layout_checks();     // strides, alignment, what is asked for and what is not
std::vector<Check> execution_checks();  // threads, repetition, contamination
std::vector<Check> refusals_checks();   // calls that must be turned down
std::vector<Check> memory_checks();     // memory
std::vector<Check> speed_checks();      // speed

Grader make_grader();

Grader make_grader() {
  return {kit::joined({gradients_checks(), scale_checks(), laws_checks(), sums_checks(),
                       state_checks(), layout_checks(), execution_checks(), refusals_checks(),
                       memory_checks(), speed_checks()}),
          growth_in_rows()};
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
