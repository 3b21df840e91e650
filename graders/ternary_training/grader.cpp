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

#include "course.h"
#include "graders/kit/groups.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

// Each group stands in the file of its name, which declares its checks beside their code.
std::vector<Check> quantizer_checks();  // codes and scales of given weights
std::vector<Check> gradient_checks();   // one linear layer with the straight-through estimator
std::vector<Check> forward_checks();    // logits of checkpoints that nobody trained
std::vector<Check> refusals_checks();   // calls that must be turned down
std::vector<Check> checkpoint_checks(
    const std::shared_ptr<Course>& course);  // what the graded run wrote, as a file
std::vector<Check> text_checks(const std::shared_ptr<Course>& course);  // what it knows
std::vector<Check> sources_checks();                                    // other runs, other texts
std::vector<Check> limits_checks(
    const std::shared_ptr<Course>& course);  // when training ends, and what it says meanwhile
std::vector<Check> shapes_checks();          // models and texts of other sizes
std::vector<Check> execution_checks();       // threads, alignment, repetition
std::vector<Check> speed_checks();           // speed

Grader make_grader();

Grader make_grader() {
  const auto course = std::make_shared<Course>();
  return {
      kit::joined({quantizer_checks(), gradient_checks(), forward_checks(), refusals_checks(),
                   checkpoint_checks(course), text_checks(course), sources_checks(),
                   limits_checks(course), shapes_checks(), execution_checks(), speed_checks()})};
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
