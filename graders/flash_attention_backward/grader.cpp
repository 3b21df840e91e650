#include "harness/grading/grader.h"

#include "checks.h"

// Where the checks of the research note (FlashAttention backward, numbers of its table) are:
//   1 all_elements, head_dims        2 constant_column           3 inner_products
//   4 shard_additivity               5 given_lse                 6 unequal_lengths, causal_flag
//   7 causal_flag                    8 empty_rows, windows, existing_keys, empty_problems
//   9 short_sequences, negative_scores          10 single_key               11 value_shift
//  12 key_shift                     13 linear_in_dout           14 dirty_outputs, repeatability
//  15 grouped_heads                 16 all_elements, causal_flag (lengths around tile edges)
//  17 directional_derivatives       18 oracle_test.cpp          19 softcap, lse_gradient, scales
//  20 loud_heads                    21 existing_keys, strides   22 causal_isolation
//  23 unseen_keys                   24 repeatability            26 delta_cancellation
//  27 long_uniform                  28 memory_slope
// Of our own: given_output, delta_output, head_dims, optional_outputs, shared_rows, alignment,
// thread_counts, bad_arguments, unsupported_requests, memory_limit and the races.
// 13 asks for the contract's accuracy at every size of dout instead of equal bits, which the
// contract promises for equal arguments only; dout = 0 still has to give zeros.
// Absent: 25 (offsets beyond 2^31 need 8 GiB of tensors) and 29 (a ratio to the solution's own
// forward pass, which this challenge does not ask for; the races compare with the reference
// instead).
namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using enum Section;
using enum Severity;

std::vector<Check> all_checks() {
  return {
      {{"all_elements", "any wrong element of dq, dk or dv", correctness, 4, critical},
       all_elements},
      {{"constant_column", "delta dropped, or taken over one tile", correctness, 3, critical},
       constant_column},
      {{"inner_products", "dq and dk from different scores, dv from others than o", correctness, 2,
        critical},
       inner_products},
      {{"shard_additivity", "weights or delta made from the keys at hand instead of lse and o",
        correctness, 3, critical},
       shard_additivity},
      {{"causal_flag", "one of causal and full attention forgotten, tiles dropped at the diagonal",
        correctness, 2, critical},
       causal_flag},
      {{"unequal_lengths", "the causal diagonal at the wrong end", correctness, 2, critical},
       unequal_lengths},
      {{"empty_rows", "exp(s - -inf) in rows that see no key", correctness, 2, critical},
       empty_rows},
      {{"existing_keys", "padding that enters sums, NaN in keys that do not exist", correctness, 2,
        critical},
       existing_keys},
      {{"short_sequences", "the unmasked rest of a tile", correctness, 2, critical},
       short_sequences},
      {{"negative_scores", "keys that only fill up a tile, with a score of 0 above all real ones",
        correctness, 1, major},
       negative_scores},
      {{"grouped_heads", "query heads of a group that do not add up", correctness, 2, critical},
       grouped_heads},
      {{"loud_heads", "errors that hide behind larger heads or rows", correctness, 2, critical},
       loud_heads},
      {{"causal_isolation", "a mask with rows and columns exchanged", correctness, 1, critical},
       causal_isolation},
      {{"unseen_keys", "gradients of keys that nobody sees left unwritten", correctness, 1,
        critical},
       unseen_keys},
      {{"linear_in_dout",
        "anything that depends on the size of dout: constants, thresholds, saturation", correctness,
        1, critical},
       linear_in_dout},
      {{"windows", "a window that is one key off", correctness, 1, major}, windows},
      {{"given_lse", "a softmax of its own instead of the given lse", correctness, 1, major},
       given_lse},
      {{"given_output", "delta from weights at hand instead of the given o", correctness, 1, major},
       given_output},
      {{"directional_derivatives", "a wrong derivative, whatever the formula", correctness, 1,
        major},
       directional_derivatives},
      {{"value_shift", "delta that loses the common part of v", correctness, 1, major},
       value_shift},
      {{"key_shift", "row sums of dS that do not vanish", correctness, 1, major}, key_shift},
      {{"single_key", "gradients where there can be none", correctness, 1, major}, single_key},
      {{"head_dims", "columns that fill no vector, value_dim taken for head_dim", correctness, 1,
        major},
       head_dims},
      {{"scales", "scale taken for 1/sqrt(head_dim), or applied once too often", correctness, 1,
        major},
       scales},
      {{"softcap", "the slope of the cap forgotten", correctness, 1, major}, softcap},
      {{"lse_gradient", "dlse ignored", correctness, 1, major}, lse_gradient},
      {{"delta_output", "delta of the keys at hand, or never written", correctness, 1, major},
       delta_output},
      {{"delta_cancellation", "low precision where dP is nearly delta", correctness, 1, major},
       delta_cancellation},
      {{"long_uniform", "sums of thousands of small terms in low precision", correctness, 1, major},
       long_uniform},

      {{"strides", "dense memory taken for granted, NaN between rows, writes between rows",
        robustness, 3, critical},
       strides},
      {{"dirty_outputs", "results added to what was there", robustness, 2, critical},
       dirty_outputs},
      {{"repeatability", "races between threads", robustness, 2, major}, repeatability},
      {{"thread_counts", "a fixed number of threads, or of heads for them", robustness, 1, major},
       thread_counts},
      {{"shared_rows", "strides of 0", robustness, 1, major}, shared_rows},
      {{"alignment", "vector loads from places that are not aligned", robustness, 1, major},
       alignment},
      {{"empty_problems", "no queries, no keys, no batch", robustness, 1, major}, empty_problems},
      {{"optional_outputs", "results that are not wanted", robustness, 1, major}, optional_outputs},
      {{"bad_arguments", "arguments that nobody looks at", robustness, 1, minor}, bad_arguments},
      {{"unsupported_requests", "another device, version or type taken for the usual", robustness,
        1, minor},
       unsupported_requests},

      {{"memory_slope", "a matrix of all scores in memory", performance, 1, critical},
       memory_slope},
      {{"memory_limit", "more scratch memory than the contract allows", performance, 1, major},
       memory_limit},
      {{"speed_full", "slow at full attention", performance, 1, minor}, speed_full},
      {{"speed_causal", "slow at causal attention", performance, 1, minor}, speed_causal},
      {{"speed_grouped", "slow at many short heads", performance, 1, minor}, speed_grouped},
  };
}

}  // namespace

Grader make_grader() {
  return {all_checks()};
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
