// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/grader.h"

#include "graders/kit/groups.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

// Each group stands in the file of its name, which declares its checks beside their code.
std::vector<Check> domain_checks();     // every class of every argument of the three functions
std::vector<Check> walk_checks();       // which rows are read, on trees that branch
std::vector<Check> stop_checks();       // where emitting ends
std::vector<Check> choice_checks();     // the target's choice, and tokens that can never be it
std::vector<Check> masks_checks();      // masks and positions
std::vector<Check> generate_checks();   // whole requests, equal to greedy decoding
std::vector<Check> rounds_checks();     // what a round or request must not leave to another
std::vector<Check> counts_checks();     // how often the target is asked, and what is said about it
std::vector<Check> shapes_checks();     // trees of thousands of nodes, hundreds of trees, requests
std::vector<Check> execution_checks();  // alignment, threads, repetition, failing callbacks
std::vector<Check> refusals_checks();   // calls that must be turned down
std::vector<Check> memory_checks();     // memory
std::vector<Check> speed_checks();      // speed

Grader make_grader();

Grader make_grader() {
  return {
      kit::joined({domain_checks(), walk_checks(), stop_checks(), choice_checks(), masks_checks(),
                   generate_checks(), rounds_checks(), counts_checks(), shapes_checks(),
                   execution_checks(), refusals_checks(), memory_checks(), speed_checks()})};
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
