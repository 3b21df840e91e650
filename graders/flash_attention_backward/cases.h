#pragma once

#include <string>
#include <vector>

#include "graders/kit/inputs.h"
#include "harness/grading/probe.h"
#include "problem.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// These lengths, with a few heads, batch entries and columns, drawn.
Sizes drawn_sizes(Rng& rng, std::int64_t q_len, std::int64_t k_len);

/// One length near a multiple of the tiles that solutions use, on either side of it.
std::int64_t near_tile_edge(Rng& rng, std::int64_t smallest, std::int64_t largest);

/// The sizes and the mask, for the evidence of a finding.
std::string describe(const Problem& problem);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
