// Which questions are asked, and why these. Numbers are those of the design notes' list for this
// challenge; where one is absent, its reason stands here.
//
//   1  sharp_scores                         14  split_and_merge
//   2  climbing_scores, falling_scores      15  causal_prefix
//   3  overflow_ramp                        16  strides, grouped_heads
//   4  very_negative_scores                 17  head_dims
//   5  loud_masked_keys                     20  tiny_shapes
//   6  negative_tail                        21  scale_and_softcap
//   7  poisoned_memory, strides             23  long_uniform
//   8  causal_alignment                     24  many_heads
//   9  window_support, late_windows         25  loud_and_quiet_heads
//  10  padded_keys                          26  same_bits, thread_counts
//  11  row_sums                             27  memory_slope, peak_memory
//  12  shift_laws                           28  speed_causal
//  13  permutations                         29  needles
//  of our own: long_sequences, unaligned_pointers, optional_lse, bad_arguments,
//  unsupported_requests, speed_dim_64, speed_dim_128, speed_short_sequences
//
//  Where a check is not about alignment, causal masks come with q_len = k_len: a mask aligned at
//  the top left fails the checks that name it, and others keep their meaning.
//
//  13 asks for equal bits when rows or heads move. Blocks that share a maximum, or a lazy rescaling
//     that one row of a block decides for all, may round a row differently in another place: the
//     results agree within rounding.
//  18 (inputs that hide a wrong rescale): nothing can fail there. generate_test holds that the
//     inputs used instead do not hide it.
//  19 (hints for the tile size): a solution may ignore them. Lengths fall on, beside and between
//     the multiples of usual tiles instead.
//  22 (16-bit inputs): only float32 is required; others may be refused.
//  24 (2^31 elements): 8 GiB of input. Heads beyond 16 bits are asked.
//  28 is a time by itself there. Here the floor counts the visible pairs, so that work above the
//     diagonal costs points.
//
// TOLERANCE. Every element of o and lse may err by (24 + k_len / 64) 2^-24 times the bound of
// graders/kit/attention.h; contract.h says so. The first term is for the rounding of scores,
// weights and short sums. The second is for sums over the keys in one float, whose error grows with
// their number: at 65536 equal weights a single chain reached 290 units. Over 200 seeds of all
// checks the honest variants and the reference used at most 0.6 of it (loud_and_quiet_heads: scores
// near 0, so that the condition forgives nothing), 0.45 elsewhere. Weights rounded to 11 bits, the
// smallest fault among the mutants, miss it in most checks.
#include "harness/grading/grader.h"

#include "graders/kit/groups.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

ScalingQuestion growth_in_length();
// Each group stands in the file of its name, which declares its checks beside their code.
std::vector<Check> softmax_checks();    // where along the keys the large scores are
std::vector<Check> extremes_checks();   // scores that a finite stand-in for infinity would meet
std::vector<Check> masks_checks();      // who sees whom
std::vector<Check> laws_checks();       // what any right answer obeys, whatever the oracle says
std::vector<Check> shapes_checks();     // sizes, heads, scales
std::vector<Check> layout_checks();     // strides, alignment, memory that is not the tensor
std::vector<Check> execution_checks();  // threads, repetition
std::vector<Check> refusals_checks();   // calls that must be turned down
std::vector<Check> memory_checks();     // memory
std::vector<Check> speed_checks();      // speed

Grader make_grader();

Grader make_grader() {
  return {kit::joined({softmax_checks(), extremes_checks(), masks_checks(), laws_checks(),
                       shapes_checks(), layout_checks(), execution_checks(), refusals_checks(),
                       memory_checks(), speed_checks()}),
          growth_in_length()};
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
