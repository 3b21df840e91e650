// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/grader.h"

#include "graders/kit/groups.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

// Each group stands in the file of its name, which declares its checks beside their code.
std::vector<Check> domain_checks();     // all that the contract allows, as data
std::vector<Check> policy_checks();     // what finished hypotheses compete with, and by which rule
std::vector<Check> score_checks();      // lengths, penalties and sums
std::vector<Check> expansion_checks();  // which extensions are looked at
std::vector<Check> stopping_checks();   // when an item is done, and what is left then
std::vector<Check> state_checks();      // whose state and whose tokens go on
std::vector<Check> execution_checks();  // other items, other threads
std::vector<Check> shapes_checks();     // long rows, many beams, many EOS ids, long hypotheses
std::vector<Check> refusals_checks();   // calls that must be turned down, and a model that fails
std::vector<Check> cost_checks();       // what the model is asked
std::vector<Check> memory_checks();
std::vector<Check> speed_checks();

Grader make_grader();

Grader make_grader() {
  return {kit::joined({domain_checks(), policy_checks(), score_checks(), expansion_checks(),
                       stopping_checks(), state_checks(), execution_checks(), shapes_checks(),
                       refusals_checks(), cost_checks(), memory_checks(), speed_checks()})};
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
