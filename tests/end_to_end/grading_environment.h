// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "harness/core/files.h"
#include "harness/grading/cell.h"
#include "harness/run/cell_request_json.h"

namespace gauntlet {

inline constexpr const char* kChallenge = "layernorm_backward";

/// This checkout and the programs of this build. Races take no longer because of other tests.
inline GradingEnvironment environment() {
  const std::filesystem::path root = GAUNTLET_ROOT;
  GradingEnvironment made{root, std::filesystem::path(GAUNTLET_BIN) / "gauntlet-worker",
                          root / "build/cache", "test"};
  made.race_patience = {};
  return made;
}

/// What grades the solution in `folder` without its races and without what its tests are worth,
/// which take most of a grading's time. The seed is drawn.
inline CellRequest untimed_request(const std::string& submission,
                                   const std::filesystem::path& folder) {
  CellRequest request;
  request.submission = submission;
  request.challenge = load_challenge(GAUNTLET_ROOT, kChallenge);
  request.solution = read_solution(folder);
  request.races = false;
  request.grade_tests = false;
  return request;
}

/// The words that grade it and keep the grade among `results`, as a runner would have it.
inline std::vector<std::string> run_cell(const CellRequest& request,
                                         const std::filesystem::path& file,
                                         const std::filesystem::path& results) {
  write_file(file, to_json(request));
  return {"run-cell", file.string(), "--out", results.string()};
}

}  // namespace gauntlet
