// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/warning_free_build.h"

#include <fmt/format.h>

namespace gauntlet {

CheckInfo warning_free_build_info() {
  return {"warning_free_build", "code that its own compiler doubts (-Wall -Wextra)",
          Section::engineering, 1, Severity::minor};
}

CheckObservation warning_free_build(const BuildRecord& build) {
  CheckObservation seen;
  seen.info = warning_free_build_info();
  seen.cases = 1;
  seen.seconds = build.seconds;
  seen.verdict = build.warnings == 0 ? Verdict::passed : Verdict::wrong;
  seen.earned = build.warnings == 0 ? 1 : 0;
  if (build.warnings > 0)
    seen.finding = {
        Verdict::wrong,
        "build",
        fmt::format("{} warning{} of the compiler, or place{} that would silence {}",
                    build.warnings, build.warnings == 1 ? "" : "s", build.warnings == 1 ? "" : "s",
                    build.warnings == 1 ? "one" : "them"),
        {build.messages},
        std::nullopt};
  return seen;
}

}  // namespace gauntlet
