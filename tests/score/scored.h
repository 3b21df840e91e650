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
