// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/reference_sessions.h"

#include <fmt/format.h>

#include "harness/build/cuda_parts.h"
#include "harness/core/digest.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/device/device_session.h"
#include "harness/worker/worker_session.h"

namespace gauntlet {

namespace {

WorkerConfig worker_config(const GradingEnvironment& environment, const Challenge& challenge,
                           const std::filesystem::path& library, TimeBudget* budget) {
  WorkerConfig config;
  config.worker = environment.worker;
  config.library = library;
  config.walls = environment.walls;
  config.exports = challenge.exports;
  config.call_seconds = challenge.call_seconds;
  config.budget = budget;
  config.memory_bytes = static_cast<std::size_t>(challenge.memory_mib) << 20;
  config.arena_bytes = static_cast<std::size_t>(challenge.arena_mib) << 20;
  return config;
}

}  // namespace

std::unique_ptr<Session> worker_session(const GradingEnvironment& environment,
                                        const Challenge& challenge,
                                        const std::filesystem::path& library, TimeBudget* budget) {
  return std::make_unique<WorkerSession>(worker_config(environment, challenge, library, budget));
}

std::unique_ptr<Session> solution_session(const GradingEnvironment& environment,
                                          const Challenge& challenge, const BuiltSolution& built,
                                          TimeBudget* budget) {
  WorkerConfig worker = worker_config(environment, challenge, built.library, budget);
  if (built.kernels.empty()) return std::make_unique<WorkerSession>(std::move(worker));
  DeviceSessionConfig config{std::move(worker), {}, built.kernels};
  config.device.program = cuda_parts().device;
  config.device.walls = environment.walls;
  // Kernels are executed by a CPU, and a settling stream has all that its call has queued.
  config.device.patience = std::chrono::duration<double>(6 * challenge.call_seconds);
  // Inputs, outputs, and as much for the solution as it has on the host.
  config.device.memory_bytes = config.worker.memory_bytes + 2 * config.worker.arena_bytes;
  return std::make_unique<DeviceSession>(std::move(config));
}

std::string ReferenceSessions::digest() const {
  return library_.empty() ? "" : sha256(read_file(library_));
}

Session& ReferenceSessions::started(std::unique_ptr<Session>& session) {
  if (library_.empty()) {
    const auto source = read_solution(environment_.root / "reference" / challenge_.id);
    const BuiltSolution built = build_solution(source, challenge_, environment_.cache);
    if (!built.record.ok)
      throw Broken(OwnFault::own_solution, fmt::format("the reference of {} does not build: {}",
                                                       challenge_.id, built.record.messages));
    library_ = built.library;
  }
  if (!session) session = worker_session(environment_, challenge_, library_);
  return *session;
}

}  // namespace gauntlet
