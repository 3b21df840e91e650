#include "harness/grading/grader.h"

#include "graders/kit/groups.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

// Each group stands in the file of its name, which declares its checks beside their code.
std::vector<Check> values_checks();    // every element against the oracle
std::vector<Check> masks_checks();     // who sees whom
std::vector<Check> laws_checks();      // laws that hold without knowing the answer
std::vector<Check> given_checks();     // statistics and factors that the caller brings
std::vector<Check> layout_checks();    // where things lie
std::vector<Check> call_checks();      // how the function is called
std::vector<Check> refusals_checks();  // refusals
std::vector<Check> memory_checks();    // memory
std::vector<Check> speed_checks();     // speed

Grader make_grader();

Grader make_grader() {
  return {
      kit::joined({values_checks(), masks_checks(), laws_checks(), given_checks(), layout_checks(),
                   call_checks(), refusals_checks(), memory_checks(), speed_checks()})};
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
