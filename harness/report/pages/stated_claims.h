// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "harness/report/model/aggregate.h"
#include "harness/report/model/claims.h"

namespace gauntlet {

/// What a submission says of its own solution, beside what was measured: the part of its page about
/// one challenge; what is false is said in a sentence. Nothing where it says nothing.
std::string stated_claims_of(Claims& claims, const ReportedCell& cell);

}  // namespace gauntlet
