// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace gauntlet {

/// How the kernels of one call are executed. As it is made, these are the usual terms: what costs
/// time is looked at by the checks that ask for it.
struct DeviceTerms {
  /// Instructions of warps, of all launches together. Fills and copies within the device cost one
  /// for 64 bytes, and each piece of work costs 1000.
  std::uint64_t budget = 200'000'000;
  std::optional<std::uint64_t> schedule_seed;  // of blocks and warps; none: by their numbers
  bool check_undefined = false;                // reads of memory that nobody has written
  bool check_races = false;
  bool count_sectors = false;  // of memory traffic, and wavefronts of shared memory
};

/// With every fault looked for that can be.
inline DeviceTerms strict_terms() {
  DeviceTerms terms;
  terms.check_undefined = terms.check_races = true;
  return terms;
}

}  // namespace gauntlet
