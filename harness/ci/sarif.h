// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/ci/ci_run.h"
#include "harness/store/json_fields.h"

namespace gauntlet {

/// The findings of the run as SARIF 2.1.0, as code scanning reads it: every result has a file of
/// the checkout, and a line where the compiler or a reader named one. What is our own fault is a
/// notification of the tool and no result.
Json sarif(const CiRun& run);

}  // namespace gauntlet
