// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/report/model/aggregate.h"
#include "harness/report/model/claims.h"

namespace gauntlet {

/// What distinguishes a submission, as sentences with predicates, those with the most points at
/// stake first, five at most. Nothing is said of what was not measured.
std::vector<std::string> strengths(const Aggregate& all, Claims& claims,
                                   const ReportedSubmission& submission);
std::vector<std::string> weaknesses(const Aggregate& all, Claims& claims,
                                    const ReportedSubmission& submission);

/// How its means move from round to round, with the shape's predicate.
std::string trajectory_sentence(Claims& claims, const ReportedSubmission& submission,
                                std::string_view page);

}  // namespace gauntlet
