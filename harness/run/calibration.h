// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/grading/cell.h"
#include "harness/run/neighbour.h"
#include "harness/score/rubric.h"

namespace gauntlet {

/// How often races of programs whose speeds are known came out how, under one condition: with
/// `slower` 0 a program was raced against itself, else against one that has so much more to do
/// (0.05: 5 %). Half of the races are bound by memory, half by arithmetic.
struct CalibrationRow {
  NeighbourKind neighbour = NeighbourKind::none;
  double slower = 0;
  int races = 0;
  int called_slower = 0;
  int called_faster = 0;
  int unmeasured = 0;
  std::vector<double> pairs = {};    // of each race that was measured
  std::vector<double> seconds = {};  // that each race took

  /// Verdicts that are false, whatever was raced.
  int wrong() const { return slower == 0 ? called_slower + called_faster : called_faster; }
};

struct Calibration {
  bool ahead = false;         // races come before other programs here
  double seconds_a_race = 0;  // of laps and what lies between them, at most
  std::vector<CalibrationRow> rows;
};

/// Races `races` times for each of three conditions and of these speeds, which are those of
/// CalibrationRow::slower, in turn, so that no condition has a better hour. `say` hears about every
/// race.
Calibration calibrate_races(const GradingEnvironment& environment, const Rubric& rubric, int races,
                            const std::vector<double>& slower, const Seed& seed,
                            const std::function<void(const std::string&)>& say);

}  // namespace gauntlet
