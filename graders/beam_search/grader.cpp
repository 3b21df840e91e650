// Which questions are asked, and why these. Numbers are those of the design notes' list for this
// challenge; where one is absent, its reason stands here.
//
//   B1   finished_compete                    B16  min_length
//   B2   length_bookkeeping                  B17  nothing_finishes
//   B3   policies_apart                      B18  short_horizons
//   B4   eos_takes_places                    B19  batch_independence
//   B5   finishing_rank                      B20  prompt_lengths
//   B6   stop_rules                          B21  crossing_beams
//   B7   stop_rules                          B22  one_parent
//   B8   negative_alpha                      B23  late_better
//   B9   greedy_path                         B24  late_better
//   B10  given_log_probs                     B25  done_items_rest, rows
//   B11  ties                                B26  requests
//   B12  first_step                          B27  long_horizon
//   B13  few_candidates                      B28  model_failure
//   B14  eos_everywhere                      B29  wide_sums
//   B15  eos_everywhere                      B30  vast_log_probs
//   of our own: random_pooled, random_separate (some 4,000 models together), thread_counts,
//   long_rows, wide_beams, bad_arguments, unsupported_requests, optional_outputs, peak_memory,
//   speed
//
//   Peak live states are not counted: the contract has no call that gives a state back.
#include "harness/grading/grader.h"

#include "graders/kit/groups.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

// Each group stands in the file of its name, which declares its checks beside their code.
std::vector<Check> policy_checks();     // what finished hypotheses compete with, and by which rule
std::vector<Check> score_checks();      // lengths, penalties and sums
std::vector<Check> expansion_checks();  // which extensions are looked at
std::vector<Check> stopping_checks();   // when an item is done, and what is left then
std::vector<Check> state_checks();      // whose state and whose tokens go on
std::vector<Check> sizes_checks();      // long rows, many beams, many EOS ids
std::vector<Check> refusals_checks();   // calls that must be turned down, and a model that fails
std::vector<Check> cost_checks();       // what the model is asked, and memory
std::vector<Check> speed_checks();      // speed

Grader make_grader();

Grader make_grader() {
  return {kit::joined({policy_checks(), score_checks(), expansion_checks(), stopping_checks(),
                       state_checks(), sizes_checks(), refusals_checks(), cost_checks(),
                       speed_checks()})};
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
