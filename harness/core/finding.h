// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/verdict.h"

namespace gauntlet {

/// One number that is off, and how many more are. `where` names the element: "dx[6][1023]".
struct Miss {
  std::string where;
  double got = 0;  // may be NaN: that is how most forgotten elements look
  double want = 0;
  double allowed = 0;      // largest |got - want| that would have passed
  std::int64_t count = 1;  // elements that miss, this one included
  std::int64_t of = 1;     // elements compared
};

/// "dx[6][1023]: got 0.99981, want 1 +- 5.3e-05 (12 of 4096 are off)"
std::string describe(const Miss& miss);

/// What a check saw when it did not hold. Never carries Verdict::passed.
struct Finding {
  Verdict verdict = Verdict::wrong;
  std::string case_name;              // the generated input that showed it
  std::string summary;                // one sentence: where, got, wanted, allowed
  std::vector<std::string> evidence;  // further lines, plain text: a neighbourhood, a drawing
  std::optional<Miss> miss;           // the number behind the summary, when there is one
};

}  // namespace gauntlet
