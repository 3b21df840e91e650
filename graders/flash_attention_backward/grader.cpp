// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/grader.h"

#include "graders/kit/groups.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

// Each group stands in the file of its name, which declares its checks beside their code.
std::vector<Check> domain_checks();      // every kind of value of every argument
std::vector<Check> values_checks();      // every element, wherever along the keys the weight is
std::vector<Check> magnitudes_checks();  // scores far from 0, large beside small, long sums
std::vector<Check> masks_checks();       // who sees whom
std::vector<Check> laws_checks();        // laws that hold without knowing the answer
std::vector<Check> given_checks();       // statistics that the caller brings
std::vector<Check> shapes_checks();      // sizes, heads, scales
std::vector<Check> layout_checks();      // where things lie
std::vector<Check> execution_checks();   // threads, repetition, what is not wanted
std::vector<Check> refusals_checks();    // calls that must be turned down
std::vector<Check> memory_checks();
std::vector<Check> speed_checks();

Grader make_grader();

Grader make_grader() {
  return {kit::joined({domain_checks(), values_checks(), magnitudes_checks(), masks_checks(),
                       laws_checks(), given_checks(), shapes_checks(), layout_checks(),
                       execution_checks(), refusals_checks(), memory_checks(), speed_checks()})};
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
