#pragma once

#include <string>
#include <vector>

#include "harness/core/rng.h"
#include "network.h"
#include "reading.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// A text that goes on where `prompt` ends, one drawn token at a time: probabilities sharpened by
/// the temperature.
Text continued(Rng& rng, const Network& network, Text prompt, std::int64_t tokens,
               double temperature);

/// Bytes as lines of at most `width` characters, broken at spaces; safe to print.
std::vector<std::string> lines_of(const std::string& bytes, std::size_t width);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
