// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/cli/report_input.h"

namespace gauntlet {

inline std::filesystem::path committed_folder() {
  return std::filesystem::path(GAUNTLET_ROOT) / "reports";
}

/// What the committed pages are made from.
inline ReportInput committed_input() {
  Context context;
  context.environment.root = GAUNTLET_ROOT;
  context.quiet = true;
  return report_input(context, committed_folder());
}

}  // namespace gauntlet
