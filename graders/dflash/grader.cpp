// Which questions are asked, and why these. Numbers are those of the design notes' list for this
// challenge; where one is absent, its reason stands here.
//
//   D2  parent_rows, branching_trees         D16  empty_sizes
//   D3  parent_rows, branching_trees         D17  passes_on_chains, bonus_token
//   D4  parent_rows, branching_trees         D18  rejected_subtrees, total_rejection
//   D5  rejected_subtrees, parent_rows       D19  bonus_token
//   D6  passes_on_branches, parent_rows      D20  choice_rule
//   D7  node_order                           D21  tree_masks, row_positions, wide_passes
//   D8  node_order, branching_trees          D22  tree_masks, greedy_equality
//   D9  scattered_paths                      D23  row_positions, greedy_equality
//   D10 strange_tokens, parent_rows          D24  shrinking_trees
//   D11 duplicate_siblings                   D25  total_rejection
//   D12 end_of_sequence, generation_limits   D26  several_requests, one_pass_for_all
//   D13 end_of_sequence                      D27  strange_tokens, bad_arguments, bad_drafts
//   D14 end_of_sequence, generation_limits   D28  draft_context
//   D15 emit_limits, generation_limits       D29  reported_counts
//   D30 plausible_drafts                     calls and rows: forward_passes, forward_rows
//   of our own: unaligned_arrays, thread_counts, fresh_answers, ended_requests, failing_callbacks,
//   big_trees, many_at_once, scratch_memory, verify_speed, build_speed
//
//   D1  (a chain on which all readings coincide) shows what no check may rely on; directed_test.cpp
//       holds that our branching trees do not have this property.
//   verify_speed and build_speed kill no mutant: an audit times nothing.
//   A race of dflash_generate would time our own answers to its callbacks, which take most of a
//   round; its cost is graded by counting passes and rows.
#include "harness/grading/grader.h"

#include "graders/kit/groups.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

// Each group stands in the file of its name, which declares its checks beside their code.
std::vector<Check> walk_checks();      // which rows are read, on trees that branch
std::vector<Check> stop_checks();      // where emitting ends
std::vector<Check> choice_checks();    // the target's choice, and tokens that can never be it
std::vector<Check> build_checks();     // masks and positions
std::vector<Check> generate_checks();  // whole requests, equal to greedy decoding
std::vector<Check>
rounds_checks();  // what one round must not leave to the next, or one request to another
std::vector<Check> counts_checks();  // how often the target is asked, and what is said about it
std::vector<Check> sizes_checks();   // trees of thousands of nodes, hundreds of trees and requests
std::vector<Check>
execution_checks();  // alignment, threads, repetition, empty sizes, failing callbacks
std::vector<Check> refusals_checks();  // calls that must be turned down
std::vector<Check> cost_checks();      // cost
std::vector<Check> speed_checks();     // speed

Grader make_grader();

Grader make_grader() {
  return {kit::joined({walk_checks(), stop_checks(), choice_checks(), build_checks(),
                       generate_checks(), rounds_checks(), counts_checks(), sizes_checks(),
                       execution_checks(), refusals_checks(), cost_checks(), speed_checks()})};
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
