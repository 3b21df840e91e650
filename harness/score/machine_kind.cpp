// SPDX-License-Identifier: Apache-2.0
#include "harness/score/machine_kind.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/core/text.h"

namespace gauntlet {

std::string machine_kind(const Provenance& provenance) {
  return fmt::format("{}, {} cores", one_line(provenance.cpu, 80), provenance.cores);
}

void RacedOn::add(const CellObservation& cell) {
  if (std::any_of(cell.checks.begin(), cell.checks.end(),
                  [](const CheckObservation& check) { return !check.speeds.empty(); }))
    add(cell.provenance);
}

std::string RacedOn::sentence() const {
  if (cells_.size() < 2) return "";
  std::vector<std::string> kinds;
  for (const auto& [kind, cells] : cells_) kinds.push_back(fmt::format("{} of {}", cells, kind));
  return fmt::format(
      "Cells were raced on {} kinds of machines ({}): speeds are compared within a kind only, and "
      "performance points are of ratios to the reference on the same machine.",
      cells_.size(), sentence_list(kinds));
}

}  // namespace gauntlet
