// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graders/kit/domain.h"

/// What the contract allows of the three functions: the classes of every argument, and what of them
/// goes together. What the classes mean is in cases.h; that of "before" is left to whoever asks.
namespace gauntlet::GAUNTLET_CHALLENGE {

/// A stride, beyond which nothing is between rows.
inline constexpr const char* kFarApart = "beyond 2^32, nothing between";

const kit::Domain& build_domain();
const kit::Domain& verify_domain();
const kit::Domain& generate_domain();

/// How many trees or requests: of the class, or fewer where there are a few and a case has to stay
/// cheap.
std::int64_t trees_of(const kit::Domain& domain, const kit::Assignment& choice, Rng& rng);
std::int64_t requests_of(const kit::Assignment& choice, Rng& rng);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
