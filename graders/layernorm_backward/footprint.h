// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "call.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Statistics take 8 bytes a row, 16 with a compensated mean in float64.
constexpr std::int64_t kBytesPerRow = 16;

/// Bytes that a step may hold besides the caller's arrays: what grows with rows, with columns for
/// each thread, of which one may have four sums in float64; libraries, thread stacks. On a device a
/// multiprocessor takes the place of a thread.
std::int64_t allowed_bytes(Probe& probe, const Problem& problem);

/// Fails the check when the backward pass of rows that are not adjacent holds more than that, in a
/// fresh process: a copy without the gaps.
void require_no_packing(Probe& probe, Rng& rng);

/// The same for calls of which less is wanted: statistics, or one gradient.
void require_little_for_fewer(Probe& probe, Rng& rng);

/// The same for rows that are short, and for few that are long.
void require_little_for_shapes(Probe& probe, Rng& rng);

/// The same for no rows and nothing wanted: all pointers are null, and multiples of a large
/// min_align as well.
void require_little_for_alignment(Probe& probe, Rng& rng);

/// Fails the check when the solution's process grows with each of many like calls, for one set of
/// wanted outputs after the other, of rows that are wide or many, and of calls that are refused.
void require_nothing_kept(Probe& probe, Rng& rng);

/// Fails the check when layernorm_saved_bytes answers what 32 bits leave of an answer for many
/// rows.
void require_wide_saved_bytes(Probe& probe, Rng& rng);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
