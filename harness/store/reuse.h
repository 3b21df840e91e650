#pragma once

#include <optional>
#include <string>

#include "harness/core/seed.h"
#include "harness/store/observation.h"

namespace gauntlet {

/// Everything that an observation of a cell depends on.
struct ReuseKey {
  std::string submission_digest;
  std::string grader_digest;
  std::string compiler;
  std::string flags;
  std::string cpu;
  int cores = 0;
  std::optional<Seed> seed;  // absent: any will do
  Device device = Device::cpu;
};

/// Why a stored observation does not answer for the cell that `wanted` describes, as a sentence:
/// "the compiler changed: g++ 12.2.0 -> g++ 13.1.0". Nothing when it does. Observations that blame
/// the place or the moment (broken, unmeasured, timed_out) never do.
std::optional<std::string> why_not_reusable(const CellObservation& stored, const ReuseKey& wanted);

}  // namespace gauntlet
