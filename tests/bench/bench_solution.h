// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "harness/build/solution.h"
#include "harness/core/files.h"
#include "harness/worker/worker_session.h"

namespace gauntlet {

/// A worker for a solution of one function, `extern "C" long work(const Args*)`, built in `folder`,
/// which has to outlive the sessions.
inline WorkerConfig bench_worker(const std::filesystem::path& folder, std::string solution) {
  write_file(folder / "contract.h", "");
  Challenge challenge;
  challenge.folder = folder;
  SolutionSource source;
  source.files.push_back({"solution.cpp", std::move(solution)});
  WorkerConfig config;
  config.worker = std::filesystem::path(GAUNTLET_BIN) / "gauntlet-worker";
  config.library = build_solution(source, challenge, folder).library;
  config.exports = {"work"};
  return config;
}

}  // namespace gauntlet
