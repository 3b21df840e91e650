#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness/sandbox/walls.h"
#include "harness/worker/session.h"

namespace gauntlet {

class TimeBudget;

struct WorkerConfig {
  std::filesystem::path worker;      // the gauntlet-worker program
  std::filesystem::path library;     // the solution's shared object
  std::filesystem::path tests;       // empty, or one whose functions call the library's exports:
                                     // calls then go to these functions
  std::vector<std::string> exports;  // checked when the solution is loaded
  double call_seconds = 10;          // of the solution's own; see kAnswering for the rest of a call
  TimeBudget* budget = nullptr;      // of all calls together, borrowed; none: each counts by itself
  std::size_t memory_bytes = std::size_t{2} << 30;
  std::size_t arena_bytes = std::size_t{1} << 30;  // for inputs, and as much again for outputs
  Walls walls = {};
};

/// A solution in its sandbox. Starts the worker at the first call. Everything a call proves comes
/// from this side: the clock, the copy of the inputs, and outputs read only while the worker is
/// frozen.
class WorkerSession : public Session {
 public:
  explicit WorkerSession(WorkerConfig config);
  ~WorkerSession() override;

  void run(CallBase& call) override;
  void restart() override;
  void keep_threads_apart() override;
  std::chrono::nanoseconds cpu_time() const override;

  /// Diagnostic text of the solution (its stdout and stderr), capped; never evidence.
  std::string output() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gauntlet
