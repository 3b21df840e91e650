// SPDX-License-Identifier: Apache-2.0
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
///
/// What it throws Broken for, all of it beyond the reach of a solution:
///   - the call does not fit into the arenas or into an order (layout): the grader laid it out;
///   - memory files, mappings, pipes, descriptors (shared_memory, output_pipe) that the kernel
///     refuses us: a solution shares none of our limits but the number of its user's processes;
///   - launching and the order before the library is loaded (launch, worker_process): nothing of
///     the solution has run in that process, and its earlier ones are dead or stopped, with no more
///     threads than leave others theirs (kernel_limits);
///   - /proc as it is before the library is loaded (process_memory): unreadable then, it is so for
///     everybody; later readings go through descriptors opened then, and what they lack is the
///     solution's failure;
///   - a spare user id, Landlock rules, system-call filters: made of nothing that it can change.
/// tests/worker/blame_test.cpp tries for them by every means that a process has over itself.
class WorkerSession : public Session {
 public:
  explicit WorkerSession(WorkerConfig config);
  ~WorkerSession() override;

  void run(CallBase& call) override;
  void restart() override;
  void keep_threads_apart() override;
  void offer_teams(bool offered) override;
  void watch_threads(bool again) override;
  ThreadUse end_watch() override;
  void enter_race(RaceGround& ground) override;
  void leave_race() override;
  std::chrono::nanoseconds cpu_time() const override;

  /// Memory that the library's CUDA runtime is given (harness/device/wire.h) by every worker to
  /// come: a borrowed descriptor, or -1 where there is no device, as it is at first.
  void set_device_mailbox(int descriptor);

  /// Diagnostic text of the solution (its stdout and stderr), capped; never evidence.
  std::string output() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gauntlet
