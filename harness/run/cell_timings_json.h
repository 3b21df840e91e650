// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "harness/grading/cell.h"
#include "harness/store/json_fields.h"

namespace gauntlet {

/// Between processes that grade: a list of all parts, in the order of the struct.
inline Json timings_to_json(const CellTimings& t) {
  return {t.build, t.self_test, t.checks, t.races, t.waiting};
}

/// Throws what nlohmann throws for anything else.
inline CellTimings timings_from_json(const Json& json) {
  const auto all = json.get<std::array<double, 5>>();
  return {all[0], all[1], all[2], all[3], all[4]};
}

}  // namespace gauntlet
