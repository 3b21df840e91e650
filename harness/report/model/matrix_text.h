// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "harness/report/model/aggregate.h"
#include "harness/report/text/phrases.h"

namespace gauntlet {

/// What stands in the matrix, as plain text: of several attempts their mean, then how far they lie
/// apart. `row`: a submission or a single attempt.
std::string matrix_text(const Aggregate& all, std::string_view row, std::string_view challenge,
                        const Signs& signs);

/// The mean over all challenges, in the same way.
std::string matrix_mean(const Aggregate& all, const ReportedSubmission& submission,
                        const Signs& signs);

}  // namespace gauntlet
