// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "harness/store/observation.h"

namespace gauntlet {

/// "AMD EPYC 7B13, 64 cores": what has to be the same where speeds are compared. They are ratios to
/// a reference on the same machine, and even these are another machine's.
std::string machine_kind(const Provenance& provenance);

/// How many cells were raced on each kind of machine.
class RacedOn {
 public:
  void add(const CellObservation& cell);
  void add(const Provenance& provenance) { ++cells_[machine_kind(provenance)]; }

  /// A sentence where there are several kinds; else empty.
  std::string sentence() const;

 private:
  std::map<std::string, int> cells_;
};

}  // namespace gauntlet
