// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/cli/context.h"
#include "harness/run/submissions.h"

namespace gauntlet {

/// What there is to say of a submission's files without running any of it.
struct ValidationFindings {
  std::vector<std::string> problems;  // break the rules
  std::vector<std::string> notes;     // worth knowing
};

ValidationFindings inspect_submission(const Context& context, const SubmissionFolder& submission);

}  // namespace gauntlet
