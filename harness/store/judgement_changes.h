// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/store/judgement.h"
#include "harness/store/ledger.h"

namespace gauntlet {

/// What a judgement says otherwise than the one whose place it takes: a line for each grade that is
/// another one, or gone. Judged grades are called so, "judged B+": a ledger holds measured ones too.
std::vector<LedgerEntry> judgement_changes(const Judgement& before, const Judgement& after,
                                           const std::string& when, const std::string& because);

}  // namespace gauntlet
