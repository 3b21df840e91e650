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

#include "checks.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
using enum Section;
using enum Severity;

Grader make_grader();

Grader make_grader() {
  return {{
      {{"finished_compete", "finished hypotheses that leave the race", correctness, 3, critical},
       finished_compete},
      {{"policies_apart", "one policy for both names", correctness, 3, critical}, policies_apart},
      {{"random_pooled", "anything but the pooled policy's rules", correctness, 3, critical},
       random_pooled},
      {{"random_separate", "anything but the separate policy's rules", correctness, 3, critical},
       random_separate},
      {{"length_bookkeeping", "lengths without the EOS or with the prompt; another penalty",
        correctness, 3, critical},
       length_bookkeeping},
      {{"prompt_lengths", "prompts that count", correctness, 1, critical}, prompt_lengths},
      {{"greedy_path", "one beam that is not greedy", correctness, 1, critical}, greedy_path},
      {{"given_log_probs", "log-probs that are normalised once more", correctness, 2, critical},
       given_log_probs},
      {{"eos_takes_places", "beams that starve behind EOS candidates", correctness, 2, critical},
       eos_takes_places},
      {{"finishing_rank", "EOS accepted at any rank", correctness, 2, major}, finishing_rank},
      {{"eos_everywhere", "too few candidates when all EOS ids are ahead", correctness, 2,
        critical},
       eos_everywhere},
      {{"first_step", "equal hypotheses in the first step", correctness, 2, critical}, first_step},
      {{"crossing_beams", "states that do not move with their hypotheses", correctness, 2,
        critical},
       crossing_beams},
      {{"one_parent", "token lists that share memory with their parent's", correctness, 2,
        critical},
       one_parent},
      {{"batch_independence", "items that see their neighbours", correctness, 3, critical},
       batch_independence},
      {{"stop_rules", "a stop rule with the wrong bound", correctness, 2, major}, stop_rules},
      {{"negative_alpha", "a bound that takes longer to be better", correctness, 1, minor},
       negative_alpha},
      {{"late_better", "stopping, or dropping a beam, before the best has come", correctness, 1,
        major},
       late_better},
      {{"min_length", "an EOS before its time", correctness, 1, major}, min_length},
      {{"nothing_finishes", "open hypotheses that are lost, or ranked by their sum, at the end",
        correctness, 2, major},
       nothing_finishes},
      {{"long_rows",
        "shortcuts for large vocabularies: EOS, equals and impossible tokens forgotten",
        correctness, 2, major},
       long_rows},
      {{"short_horizons", "max_new of 0 and 1", correctness, 0.5, minor}, short_horizons},
      {{"ties", "an order of equals that is left to chance", correctness, 1, minor}, ties},

      {{"few_candidates", "beams that find no extension", robustness, 2, major}, few_candidates},
      {{"wide_beams", "arrays for so many beams or EOS ids and no more", robustness, 1, major},
       wide_beams},
      {{"wide_sums", "sums in float32", robustness, 1, major}, wide_sums},
      {{"vast_log_probs", "a finite number that stands for -infinity", robustness, 1, minor},
       vast_log_probs},
      {{"long_horizon", "arrays and recursion for short outputs; small errors that add up",
        robustness, 1, minor},
       long_horizon},
      {{"thread_counts", "candidates lost between threads", robustness, 1, major}, thread_counts},
      {{"model_failure", "a model's failure that is not reported", robustness, 1, minor},
       model_failure},
      {{"bad_arguments", "arguments that make no sense, acted upon", robustness, 0.5, minor},
       bad_arguments},
      {{"unsupported_requests", "devices and versions that are not implemented, taken for others",
        robustness, 0.5, minor},
       unsupported_requests},
      {{"optional_outputs", "an empty batch; outputs that are not wanted", robustness, 0.5, minor},
       optional_outputs},

      {{"requests", "a request for each item or beam", performance, 2, major}, requests},
      {{"rows", "rows that no open hypothesis needs", performance, 1, minor}, rows},
      {{"done_items_rest", "asking on for items that are done", performance, 1, minor},
       done_items_rest},
      {{"peak_memory", "lists of all extensions", performance, 1, minor}, peak_memory},
      {{"speed", "slow selection", performance, 4, minor}, speed},
  }};
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
