// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/score/ranking.h"
#include "tests/store/sample.h"

namespace gauntlet {

inline const Rubric& rubric() {
  static const Rubric loaded =
      load_rubric(std::filesystem::path(GAUNTLET_ROOT) / "harness/score/rubric.yaml");
  return loaded;
}

/// The same with few resamples, for tests that rank many boards.
inline const Rubric& quick_rubric() {
  static const Rubric quick = [] {
    Rubric few = rubric();
    few.resamples = 200;
    return few;
  }();
  return quick;
}

/// A cell with this score and no caps.
inline CellObservation cell(const std::string& submission, const std::string& challenge,
                            double score) {
  CellObservation cell = sample::cell(submission, challenge);
  cell.checks = {sample::passed("base")};
  cell.checks[0].earned = score / 100;
  return cell;
}

inline const Ranked& of(const std::vector<Ranked>& all, const std::string& name) {
  for (const auto& one : all)
    if (one.submission == name) return one;
  throw std::runtime_error("not ranked: " + name);
}

}  // namespace gauntlet
