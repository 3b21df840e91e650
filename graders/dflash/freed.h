// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/grading/probe.h"
#include "problem.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Asks the same again and again, with rows of logits worth 256 KiB, and demands that nothing of it
/// stays allocated, also where a callback fails.
void require_freed(Probe& probe, Rng& rng, Problem::Callback failing);

/// The same of so many rows and nodes in small trees that four bytes for each show.
void require_passes_freed(Probe& probe, Rng& rng, Problem::Callback failing);

/// The same where each call is refused for a draft that is no tree.
void require_bad_drafts_freed(Probe& probe, Rng& rng);

/// The same of trees that are built or verified, and of such that are refused, which only the last
/// of something shows: some 36,000 nodes.
void require_trees_freed(Probe& probe, Rng& rng);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
