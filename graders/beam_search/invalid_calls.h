// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "contract.h"
#include "graders/kit/domain.h"
#include "graders/kit/refusals.h"
#include "problem.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// One thing wrong with a call: with its arguments, or with the settings that it is made of.
struct Invalid {
  kit::Flaw<BeamArgs> flaw;
  std::function<void(Settings&)> misplace = [](Settings&) {};
  std::int64_t want = BEAM_BAD_ARGUMENT;
};

/// What may be wrong with one argument, and what it can stand beside.
struct InvalidGroup {
  std::string name;
  std::vector<Invalid> all;
  std::function<bool(const kit::Assignment&)> beside = [](const kit::Assignment&) { return true; };
};

/// What the contract refuses.
std::vector<InvalidGroup> invalid_calls();

}  // namespace gauntlet::GAUNTLET_CHALLENGE
