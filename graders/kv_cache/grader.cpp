// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/grader.h"

#include "graders/kit/groups.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

// Each group stands in the file of its name, which declares its checks beside their code.
std::vector<Check> domain_checks();      // every kind of value of every argument
std::vector<Check> values_checks();      // which keys count, and how much
std::vector<Check> masks_checks();       // which keys a query sees
std::vector<Check> shapes_checks();      // heads, dimensions, page sizes
std::vector<Check> sizes_checks();       // what 8, 16 or 32 bits do not hold
std::vector<Check> pages_checks();       // pages, tables, and what lies in them that is not in use
std::vector<Check> storage_checks();     // how near what is stored is to what was appended
std::vector<Check> laws_checks();        // what must not change the result
std::vector<Check> splits_checks();      // attention in parts, and the merge of them
std::vector<Check> operations_checks();  // histories, and the shortest that fails
std::vector<Check> execution_checks();   // processes, threads, addresses, long sequences
std::vector<Check> refusals_checks();    // calls that must be turned down
std::vector<Check> memory_checks();      // bytes of a page, and those of a call
std::vector<Check> speed_checks();       // time, and what it must not depend on

Grader make_grader();

Grader make_grader() {
  return {kit::joined({domain_checks(), values_checks(), masks_checks(), shapes_checks(),
                       sizes_checks(), pages_checks(), storage_checks(), laws_checks(),
                       splits_checks(), operations_checks(), execution_checks(), refusals_checks(),
                       memory_checks(), speed_checks()})};
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
