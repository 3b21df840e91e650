// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "call.h"
#include "oracle.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Errors stay below this times the oracle's bound, as the contract says; README.md derives it.
double allowance(const Problem& problem);

/// With the contract's floor for what float32 cannot hold exactly: none where the bound is 0.
double allowed_error(const Problem& problem, double bound);

/// Asks and compares with the oracle.
Answer require_right(Probe& probe, const Problem& problem, const CallOptions& options = {});

/// Ends the check unless every element that was asked for is as close to the expected one as the
/// allowance, times `slack`, says.
void require_close(Probe& probe, const Problem& problem, const Answer& got,
                   const Expected& expected, double slack = 1);

/// Ends the check unless both answers are equal in every element, -0 and +0 being equal.
void require_equal(Probe& probe, const Problem& problem, const Answer& got, const Answer& want);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
