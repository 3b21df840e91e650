// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "harness/cli/verbs.h"

namespace gauntlet {

/// Where the options want cells to be graded. Throws UserError for options of a cluster without
/// one.
std::unique_ptr<Runner> runner_for(const Context& context, const GradeOptions& options);

/// What cells are planned with that go there.
PlanTerms plan_terms_for(const Context& context, const GradeOptions& options);

}  // namespace gauntlet
