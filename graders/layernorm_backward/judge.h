#pragma once

#include <cstdint>
#include <vector>

#include "oracle.h"
#include "step.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Fails the check at the worst element of what was asked for. An empty part of the answer is not
/// looked at. Records how much of the tolerance was used at most, over all cases of the check.
void require_gradients(Probe& probe, const Problem& problem, const Answer& answer,
                       const Expected& expected);
void require_forward(Probe& probe, const Problem& problem, const Answer& answer,
                     const Expected& expected);

/// A whole step, its gradients against the oracle.
void require_step(Probe& probe, const Problem& problem, const Wanted& wanted = {});

/// One row of dx, for inputs whose other rows may be anything.
void require_dx_row(Probe& probe, const Problem& problem, const Answer& answer,
                    const Expected& expected, std::int64_t row);

/// Remembers the largest share of a tolerance that any case of the check used.
void note_share(Probe& probe, double share);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
