// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <string>
#include <string_view>

#include "harness/report/model/aggregate.h"

// Where drawings are, below the report's folder: those who draw and those who show agree here.

namespace gauntlet {

inline const std::string kMatrixPlot = "plots/matrix.svg";
inline const std::string kTrajectoryPlot = "plots/trajectory.svg";
inline const std::string kCeilingsPlot = "plots/ceilings.svg";

inline std::string speed_path(std::string_view challenge) {
  return fmt::format("plots/speed/{}.svg", challenge);
}

/// Of an AuditRecord::entry().
inline std::string kills_path(std::string_view audited) {
  return fmt::format("plots/kills/{}.svg", audited);
}

/// Of one of a check's curves: "plots/curves/alpha/first/speed_0.svg".
inline std::string curve_path(const ReportedCell& cell, const CheckObservation& check,
                              std::size_t curve) {
  return fmt::format("plots/curves/{}/{}/{}_{}.svg", file_word(cell.submission()), cell.challenge(),
                     check.info.id, curve);
}

}  // namespace gauntlet
