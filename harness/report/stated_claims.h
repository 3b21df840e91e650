#pragma once

#include <string>

#include "harness/report/aggregate.h"
#include "harness/report/claims.h"

namespace gauntlet {

// What submissions say of their own solutions, beside what was measured. Nothing where nobody says
// anything.

/// The part of a submission's page about one challenge; what is false is said in a sentence.
std::string stated_claims_of(Claims& claims, const ReportedCell& cell);

/// The part of a challenge's page, all submissions in one table.
std::string stated_claims_in(const Aggregate& all, const std::string& challenge);

}  // namespace gauntlet
