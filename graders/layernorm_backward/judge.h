// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "call.h"
#include "oracle.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Runs a whole step and compares its gradients with the oracle; the second compares y as well.
void require_right(Probe& probe, const Problem& problem, const CallOptions& options = {});
void require_right_with_y(Probe& probe, const Problem& problem, const CallOptions& options = {});

/// The rest compares only. Each fails the check at the worst element, and records the largest share
/// of the tolerance that was used. An empty part of the answer was not asked for; what a
/// problem's bad rows may spoil is not looked at.
void require_gradients(Probe& probe, const Problem& problem, const Answer& answer,
                       const Expected& expected);
void require_y(Probe& probe, const Problem& problem, const Answer& answer,
               const Expected& expected);

/// All of dx, with a tolerance of the check's own.
void require_dx(Probe& probe, const Problem& problem, std::span<const float> got,
                std::span<const double> want, std::span<const double> allowed);

/// All of y, or every gradient, is exactly that of `want`; `against` says in the evidence what that
/// is.
void require_same_y(Probe& probe, const Problem& problem, const Answer& got, const Answer& want,
                    const std::string& against);
void require_same_gradients(Probe& probe, const Problem& problem, const Answer& got,
                            const Answer& want, const std::string& against);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
