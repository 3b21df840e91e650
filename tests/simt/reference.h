// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gauntlet::simt {

/// What one lane has to compute, told from the name of the instruction alone, by arithmetic that
/// shares nothing with the simulator: wide integers, double and long double, rounding by frexp.
struct Expected {
  std::vector<std::uint64_t> results;  // as bits; a predicate is 0 or 1
  double near = 0;       // where `tolerance` is not 0, the result is any float near it
  double tolerance = 0;  // relative
};

/// Nothing for an instruction that this knows nothing of. `in` are the sources, a predicate 0 or 1.
std::optional<Expected> expected(const std::string& opcode, const std::string& operands,
                                 const std::vector<std::uint64_t>& in);

}  // namespace gauntlet::simt
