// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/grading/probe.h"

/// Calls of so many numbers that solutions take other paths than for those of the domain: by
/// blocks, by more threads, or known from the call before. What such a path forgets is what is
/// rare: so each is asked beside other weights, groups, places and earlier calls.
namespace gauntlet::GAUNTLET_CHALLENGE {

/// Of every pair of classes a case; or so many cases with many unusual classes.
void ask_large_matrices(Probe& probe);
void ask_large_matrices(Probe& probe, std::size_t cases);

/// Of every pair of classes a case; or of every pair of sizes.
void ask_large_layers(Probe& probe);
void ask_sizes_of_large_layers(Probe& probe);

/// One group of many has no finite scale: nothing is written, of whatever was quantised before it.
void refuse_large_matrices(Probe& probe);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
