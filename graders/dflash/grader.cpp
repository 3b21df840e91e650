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

#include "checks.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
using enum Section;
using enum Severity;

Grader make_grader();

Grader make_grader() {
  return {{
      {{"parent_rows", "logits taken by list index or by depth instead of by parent", correctness,
        3, critical},
       parent_rows},
      {{"branching_trees", "verification that only holds for chains", correctness, 3, critical},
       branching_trees},
      {{"rejected_subtrees", "nodes accepted below a rejected one, or without being verified",
        correctness, 3, critical},
       rejected_subtrees},
      {{"bonus_token", "the bonus missing, or read from another row than the last accepted",
        correctness, 2, critical},
       bonus_token},
      {{"end_of_sequence", "tokens after an end of sequence; stopping at one that was rejected",
        correctness, 2, critical},
       end_of_sequence},
      {{"emit_limits", "more tokens than asked for, limit and end taken in the wrong order",
        correctness, 2, critical},
       emit_limits},
      {{"tree_masks", "masks that show siblings, cousins or padding; bits beyond a word",
        correctness, 2, critical},
       tree_masks},
      {{"row_positions", "positions by index instead of by depth", correctness, 2, critical},
       row_positions},
      {{"greedy_equality", "whole requests that differ from greedy decoding", correctness, 3,
        critical},
       greedy_equality},
      {{"scattered_paths", "keeping the first slots of a pass instead of the accepted ones",
        correctness, 2, critical},
       scattered_paths},
      {{"generation_limits", "requests that run past their limit or their end", correctness, 2,
        critical},
       generation_limits},
      {{"several_requests", "requests that get each other's rows, lengths or tokens", correctness,
        2, critical},
       several_requests},
      {{"node_order", "trees taken to be listed breadth first, or siblings in order", correctness,
        1, critical},
       node_order},
      {{"passes_on_branches", "accepting less than the tree holds: first children only",
        correctness, 2, major},
       passes_on_branches},
      {{"passes_on_chains", "accepting less than a chain holds: no bonus, one node a pass",
        correctness, 2, major},
       passes_on_chains},
      {{"plausible_drafts", "drafts that look right one token early, late or elsewhere",
        correctness, 1, major},
       plausible_drafts},
      {{"choice_rule", "ties, near ties, infinities and ends of a row of logits", correctness, 1,
        major},
       choice_rule},
      {{"strange_tokens", "draft tokens outside the vocabulary, padding taken for token 0",
        correctness, 1, major},
       strange_tokens},
      {{"one_pass_for_all", "a forward pass for every request instead of one for all", correctness,
        1, major},
       one_pass_for_all},
      {{"duplicate_siblings", "siblings that carry the same token", correctness, 1, minor},
       duplicate_siblings},
      {{"reported_counts", "rounds and accepted tokens claimed, not counted", correctness, 0.5,
        minor},
       reported_counts},

      {{"wide_passes", "mask words of the wrong width, long committed texts", robustness, 2,
        critical},
       wide_passes},
      {{"big_trees", "arrays for trees of so many nodes and no more", robustness, 1, major},
       big_trees},
      {{"many_at_once", "room for so many trees or requests and no more", robustness, 1, major},
       many_at_once},
      {{"shrinking_trees", "slots of an earlier, bigger tree still in use", robustness, 2, major},
       shrinking_trees},
      {{"total_rejection", "a cache that is reset, or grows, when everything is rejected",
        robustness, 1, major},
       total_rejection},
      {{"ended_requests", "requests that have ended and are still in the passes", robustness, 1,
        major},
       ended_requests},
      {{"draft_context", "a drafter that is not told the latest tokens", robustness, 1, major},
       draft_context},
      {{"empty_sizes", "no trees, no nodes, no requests, nothing wanted", robustness, 1, major},
       empty_sizes},
      {{"thread_counts", "trees lost or doubled between threads, seams within a row", robustness, 1,
        major},
       thread_counts},
      {{"fresh_answers", "answers kept from an earlier call", robustness, 2, critical},
       fresh_answers},
      {{"unaligned_arrays", "wider alignment than promised, reads behind the end", robustness, 2,
        major},
       unaligned_arrays},
      {{"bad_arguments", "arguments that make no sense, acted upon", robustness, 1, major},
       bad_arguments},
      {{"bad_drafts", "drafts that are no trees, acted upon", robustness, 0.5, minor}, bad_drafts},
      {{"failing_callbacks", "a failing target that goes unnoticed", robustness, 0.5, minor},
       failing_callbacks},

      {{"forward_passes", "more passes of the target than the drafts make necessary", performance,
        2, minor},
       forward_passes},
      {{"forward_rows", "rows of the target that nobody needs", performance, 1, minor},
       forward_rows},
      {{"scratch_memory", "copies of the logits", performance, 1, major}, scratch_memory},
      {{"verify_speed", "slow verification: logits that are read twice or for nothing", performance,
        4, minor},
       verify_speed},
      {{"build_speed", "slow masks", performance, 1, minor}, build_speed},
  }};
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
