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

#include "checks.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

Grader make_grader() {
  using enum Section;
  using enum Severity;
  Grader grader{{
      {{"sharp_scores", "tile edges, tails and odd lengths", correctness, 3, critical},
       sharp_scores},
      {{"climbing_scores", "rescaling when the maximum moves on the way to the last key",
        correctness, 4, critical},
       climbing_scores},
      {{"falling_scores", "rescaling when the keys are walked from the last to the first",
        correctness, 4, critical},
       falling_scores},
      {{"overflow_ramp", "weights relative to a maximum that is no longer the largest", correctness,
        3, critical},
       overflow_ramp},
      {{"needles", "a lost or misplaced key in any tile", correctness, 2, critical}, needles},
      {{"very_negative_scores", "finite stand-ins for -infinity, maxima that start at 0",
        correctness, 3, critical},
       very_negative_scores},
      {{"loud_masked_keys", "masks applied after the maximum, or by a finite penalty", correctness,
        3, critical},
       loud_masked_keys},
      {{"negative_tail", "padding keys of score 0 in the last tile", correctness, 2, critical},
       negative_tail},
      {{"causal_alignment", "top-left causal masks, rows that see no key", correctness, 3,
        critical},
       causal_alignment},
      {{"window_support", "window ends off by one, key by key", correctness, 3, critical},
       window_support},
      {{"padded_keys", "left and right padding, empty batch entries", correctness, 3, critical},
       padded_keys},
      {{"late_windows", "NaN from tiles in which a row sees nothing", correctness, 3, critical},
       late_windows},
      {{"row_sums", "weights that do not add up to 1", correctness, 2, critical}, row_sums},
      {{"shift_laws", "hidden biases in scores and values", correctness, 1, major}, shift_laws},
      {{"permutations", "rows, keys or heads that leak into each other", correctness, 2, critical},
       permutations},
      {{"split_and_merge", "a wrong log-sum-exp: base, maximum, empty parts", correctness, 2,
        critical},
       split_and_merge},
      {{"causal_prefix", "the future of a query changing its row", correctness, 2, critical},
       causal_prefix},
      {{"grouped_heads", "key heads taken modulo instead of in groups", correctness, 2, critical},
       grouped_heads},
      {{"head_dims", "head sizes that fill no vector, values of another size", correctness, 2,
        major},
       head_dims},
      {{"scale_and_softcap", "a built-in scale, a cap before the scale", correctness, 1, major},
       scale_and_softcap},
      {{"long_sequences", "another path for long sequences", correctness, 2, critical},
       long_sequences},
      {{"loud_and_quiet_heads", "absolute errors that drown a quiet head", correctness, 2,
        critical},
       loud_and_quiet_heads},
      {{"long_uniform", "sums of 10^5 terms in short accumulators", correctness, 1, major},
       long_uniform},

      {{"tiny_shapes", "sizes of 0 and 1", robustness, 1, major}, tiny_shapes},
      {{"many_heads", "head counts beyond 16 bits", robustness, 1, major}, many_heads},
      {{"strides", "memory taken for contiguous, writes between rows", robustness, 2, critical},
       strides},
      {{"unaligned_pointers", "vector accesses that need more alignment than is promised",
        robustness, 1, major},
       unaligned_pointers},
      {{"poisoned_memory", "NaN and infinity in keys that do not exist", robustness, 2, critical},
       poisoned_memory},
      {{"optional_lse", "a log-sum-exp that nobody wants", robustness, 1, minor}, optional_lse},
      {{"thread_counts", "work lost or doubled between threads", robustness, 2, major},
       thread_counts},
      {{"same_bits", "races, and scratch memory that remembers", robustness, 1, major}, same_bits},
      {{"bad_arguments", "impossible arguments accepted", robustness, 1, minor}, bad_arguments},
      {{"unsupported_requests", "unknown types, devices and versions accepted", robustness, 1,
        minor},
       unsupported_requests},

      {{"memory_slope", "a stored matrix of scores", performance, 2, critical}, memory_slope},
      {{"peak_memory", "scratch memory far beyond a tile", performance, 1, major}, peak_memory},
      {{"speed_dim_64", "long sequences, heads of 64", performance, 2, minor}, speed_dim_64},
      {{"speed_dim_128", "long sequences, heads of 128", performance, 2, minor}, speed_dim_128},
      {{"speed_causal", "work above the diagonal", performance, 2, minor}, speed_causal},
      {{"speed_short_sequences", "many short sequences", performance, 1, minor},
       speed_short_sequences},
  }};
  grader.scaling = growth_in_length();
  return grader;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
