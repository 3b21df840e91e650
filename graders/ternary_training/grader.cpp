// Which questions are asked, and why these. Numbers are those of the design notes' list for this
// challenge; where one is absent, its reason stands here.
//
//   T1   half_ties                               T16  honest_claims
//   T2   group_scales                            T17  canaries
//   T3   quantized_rows_apart                    T18  relabelled_tokens
//   T4   bad_arguments, bad_lessons              T19  known_entropy
//   T5   tiny_and_zero_groups                    T20  hidden_text, known_entropy, causal
//   T6   bad_arguments, mean_rounding            T21  hidden_text, known_entropy
//   T7   signs                                   T22  determinism, relabelled_tokens
//   T8   quantized_again, honest_claims          T23  time_limit, token_limit, tokens_counted
//   T9   layer_output, input_gradient,           T24  odd_shapes, odd_documents, bad_lessons
//        weight_gradient                         T25  group_sizes
//   T10  forward_logits, rotary_positions        T26  small_capacity
//   T11  checkpoint_format, refused_checkpoints  T27  unseen_tokens
//   T12  ternary_coverage                        T28  odd_documents; hidden chapters are evaluated
//   T13  every_tensor_matters, _moved                 one by one
//   T14  hidden_text, pairs_of_tokens            T29  honest_claims
//   T15  memorisation
//   of our own: mean_rounding, gradient_of_far_weights, latent_weights_hidden, norm_gains, causal,
//   early_stop, progress_reported, thread_counts, unaligned_arrays, unaligned_training,
//   repeated_calls, unsupported_requests, perplexity, speeds of the other three functions
//
//   T17 cannot ask whether strings that stood once are known: the reference knows them after a
//   minute. T14 and T15 ask for a second corpus: the source of known entropy is it. T23 (processor
//   time of one thread) is not asked: the parent accounts for wall time and memory. Tokens
//   processed beyond max_tokens cannot be counted from outside; the graded run is bounded by the
//   clock, so that nothing is won by them. Memory is left to the limit of the sandbox: training
//   needs a few MiB of the 2 GiB it may have. forward_speed, quantize_speed and gradient_speed kill
//   no mutant: an audit times nothing.
//
//   The graded run takes a minute and the whole machine; most checks look at what it left. In an
//   audit it is a brief one, and its bars are those of so little training (checks_text.cpp).
#include "harness/grading/grader.h"

#include <memory>

#include "checks.h"
#include "course.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
using enum Section;
using enum Severity;

Grader make_grader();

Grader make_grader() {
  const auto course = std::make_shared<Course>();
  const auto about = [course](void (*check)(Probe&, Course&)) {
    return [course, check](Probe& probe) { check(probe, *course); };
  };
  return {{
      {{"half_ties", "weights at half a scale: rounded up, or another threshold", correctness, 2,
        critical},
       half_ties},
      {{"group_scales", "one scale for a row or a matrix", correctness, 2, critical}, group_scales},
      {{"quantized_rows_apart", "groups that run across rows or down columns", correctness, 2,
        critical},
       quantized_rows_apart},
      {{"tiny_and_zero_groups", "groups of zeros, means below the smallest half", correctness, 1,
        critical},
       tiny_and_zero_groups},
      {{"mean_rounding", "means rounded twice, or summed in float32", correctness, 1, major},
       mean_rounding},
      {{"signs", "signs that get into the scale", correctness, 1, major}, signs},
      {{"quantized_again", "matrices that are ternary already", correctness, 1, major},
       quantized_again},
      {{"layer_output", "y of other weights than the quantised ones", correctness, 2, critical},
       layer_output},
      {{"input_gradient", "input gradients of other weights than the quantised ones", correctness,
        2, critical},
       input_gradient},
      {{"weight_gradient", "weight gradients masked, scaled or taken through the quantiser",
        correctness, 2, critical},
       weight_gradient},
      {{"gradient_of_far_weights", "gradients clipped away from weights far from the threshold",
        correctness, 1, critical},
       gradient_of_far_weights},
      {{"latent_weights_hidden", "latent weights that shine through", correctness, 1, major},
       latent_weights_hidden},
      {{"forward_logits", "another model than the contract's", correctness, 3, critical},
       forward_logits},
      {{"causal", "positions that see what follows them", correctness, 2, critical}, causal},
      {{"rotary_positions", "rotations by other pairs, angles or signs", correctness, 2, critical},
       rotary_positions},
      {{"norm_gains", "epsilon or gains left out or in the wrong place", correctness, 1, major},
       norm_gains},
      {{"checkpoint_format", "files that are longer, shorter or not ternary", correctness, 3,
        critical},
       about(checkpoint_format)},
      {{"hidden_text", "text that was never seen, predicted no better than by counting",
        correctness, 4, critical},
       about(hidden_text)},
      {{"memorisation", "training text learnt by heart", correctness, 2, critical},
       about(memorisation)},
      {{"ternary_coverage", "tensors that are empty, of one sign or hardly ternary", correctness, 1,
        major},
       about(ternary_coverage)},
      {{"every_tensor_matters", "tensors that training skipped or export lost", correctness, 1,
        major},
       about(every_tensor_matters)},
      {{"every_tensor_moved", "tensors left as they were drawn", correctness, 1, major},
       about(every_tensor_moved)},
      {{"pairs_of_tokens", "less learnt than by counting pairs", correctness, 2, major},
       about(pairs_of_tokens)},
      {{"honest_claims", "a checkpoint that is not the one measured; leaks into held-out text",
        correctness, 2, major},
       about(honest_claims)},
      {{"known_entropy", "a source of known entropy, beaten or hardly learnt", correctness, 2,
        major},
       known_entropy},
      {{"relabelled_tokens", "ids that mean something", correctness, 1, major}, relabelled_tokens},
      {{"canaries", "training text that was not read, or text that was read instead of it",
        correctness, 0.5, minor},
       about(canaries)},

      {{"time_limit", "training that outlasts its time", robustness, 2, major}, about(time_limit)},
      {{"token_limit", "training on more tokens than allowed", robustness, 2, major}, token_limit},
      {{"tokens_counted", "more learnt than the tokens that are counted can teach", robustness, 1,
        major},
       tokens_counted},
      {{"early_stop", "a request to end that goes unheard", robustness, 1, major}, early_stop},
      {{"progress_reported", "long silence, counts that fall", robustness, 1, minor},
       about(progress_reported)},
      {{"determinism", "races, uninitialised memory, seeds that are ignored", robustness, 2, major},
       determinism},
      {{"odd_shapes", "vocabularies, heads, widths and windows of unusual size", robustness, 2,
        major},
       odd_shapes},
      {{"group_sizes", "groups of 128 taken for granted", robustness, 1, major}, group_sizes},
      {{"odd_documents", "documents that are empty or shorter than a window", robustness, 1, major},
       odd_documents},
      {{"unseen_tokens", "ids that never occurred in training", robustness, 1, major},
       unseen_tokens},
      {{"thread_counts", "rows lost or doubled between threads", robustness, 1, major},
       thread_counts},
      {{"unaligned_arrays", "wider alignment than promised, reads behind the end", robustness, 1,
        major},
       unaligned_arrays},
      {{"unaligned_training", "wider alignment of the text or the checkpoint than promised",
        robustness, 1, major},
       unaligned_training},
      {{"repeated_calls", "answers and state kept from an earlier call", robustness, 2, critical},
       repeated_calls},
      {{"refused_checkpoints", "damaged checkpoints that are used", robustness, 1, major},
       refused_checkpoints},
      {{"bad_arguments", "arguments that make no sense, acted upon", robustness, 0.5, minor},
       bad_arguments},
      {{"bad_lessons", "models and texts that make no sense, trained on", robustness, 0.5, minor},
       bad_lessons},
      {{"small_capacity", "checkpoints written where there is no room", robustness, 0.5, minor},
       small_capacity},
      {{"unsupported_requests", "versions and devices that are not implemented", robustness, 0.5,
        minor},
       unsupported_requests},

      {{"perplexity", "little learnt in the time allowed", performance, 6, minor},
       about(perplexity)},
      {{"forward_speed", "slow evaluation", performance, 2, minor}, forward_speed},
      {{"quantize_speed", "slow quantisation", performance, 1, minor}, quantize_speed},
      {{"gradient_speed", "slow training steps", performance, 2, minor}, gradient_speed},
  }};
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
