// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <sys/types.h>

#include "harness/sandbox/launch.h"
#include "harness/sandbox/limits.h"
#include "harness/sandbox/output_pipe.h"
#include "harness/sandbox/spare_user.h"
#include "harness/sandbox/walls.h"
#include "harness/worker/arenas.h"
#include "harness/worker/held_up.h"
#include "harness/worker/process_memory.h"
#include "harness/worker/process_tasks.h"
#include "harness/worker/protocol.h"
#include "harness/worker/session.h"
#include "harness/worker/shared_memory.h"

namespace gauntlet {

class AheadOfOthers;
class ThreadsAtWork;

/// What a worker process is made from; borrowed.
struct WorkerParts {
  int program;
  int library;
  int tests;           // -1: none
  int device_mailbox;  // -1: none
  const Arenas* arenas;
  Limits limits;
  Walls walls = {};
  bool teams_offered = false;  // see Session::offer_teams()
  bool exact_heap = false;     // what malloc has in use can be told; it is slower then
};

/// One worker process. It runs only inside run(); before and after, every thread of it is stopped.
class WorkerProcess {
 public:
  using Clock = std::chrono::steady_clock;

  enum class Event {
    done,         // the order is carried out
    asked,        // a callback wants an answer; run() again once it is there
    ended,        // the process is dead: see end()
    late,         // past the time that it was given
    over_memory,  // more than limit_resident() allows
    flooded,      // printed more than it may
    crowded,      // more threads than it may have
    teamed,       // as many threads as teams have that were offered
    headless,     // its main thread has ended, and others go on
  };

  struct Leg {
    Event event;
    Clock::duration elapsed;             // from release to confirmed freeze
    std::chrono::nanoseconds processor;  // that its threads used
    std::chrono::nanoseconds lost;       // that other programs had, where somebody watches
    Clock::duration held_up;             // of `elapsed`, by others; no more than is excusable
  };

  /// How the kernel says that it ended: CLD_EXITED and a code, or CLD_KILLED and a signal.
  struct End {
    int how = 0;
    int status = 0;
  };

  /// Starts it, up to the point where the solution could be loaded.
  explicit WorkerProcess(const WorkerParts& parts);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// Announces the order that lies in the `in` arena; the next run() carries it out.
  void issue() { control().go.store(++number_); }

  /// From now on, run() begins with its threads on different cores, as SpreadThreads does it.
  void keep_threads_apart() { threads_apart_ = true; }

  /// From now on, run() tells the watch, which has to outlive that, and lets the worker and the
  /// calling thread come before other programs.
  void race(ClockWatch* watch) {
    watch_ = watch;
    ahead_ = true;
  }

  /// From now on, run() tells this, which has to outlive that, what threads are at work; or nobody.
  void watch_threads(ThreadsAtWork* at_work) { at_work_ = at_work; }

  /// Lets the worker run until it has something to say or must not go on. After `done` and `asked`
  /// every thread of it has been seen stopped; after the other events the worker is dead. It is
  /// late after `at_most`, and as much more as others held it up, but for `excusable` no more.
  Leg run(Clock::duration at_most, Clock::duration excusable);

  wire::Control& control() const { return *reinterpret_cast<wire::Control*>(control_.base()); }
  const ProcessMemory& memory() const { return *memory_; }
  const OutputPipe& output() const { return output_; }
  End end() const { return end_; }
  std::chrono::nanoseconds cpu_time() const;  // of all its threads; 0 once it has ended

  /// Private and file bytes that the worker held before it loaded the solution.
  const Resident& baseline() const { return baseline_; }

  /// That live now.
  std::size_t threads() const { return tasks_->count(); }

  /// Largest private memory that was seen from time to time since forget_largest().
  std::size_t largest_private() const { return largest_private_; }
  void forget_largest() { largest_private_ = 0; }

  /// run() ends with over_memory when all resident pages and page tables are more than this.
  void limit_resident(std::size_t bytes) { resident_limit_ = bytes; }

 private:
  void start(const WorkerParts& parts);
  /// When it began, when it is to have something to say, and how others may hold it up until then.
  struct Deadline {
    Clock::time_point released;
    Clock::time_point at;
    Clock::duration excusable;
  };
  Event wait(const Deadline& deadline, Clock::duration awake, AheadOfOthers* ahead);
  Clock::duration held_up() const;
  Clock::duration held_us_up(std::chrono::nanoseconds processor) const;
  void look_at_threads(Clock::time_point released);
  std::optional<Event> news() const;
  std::optional<Event> look_after();
  std::optional<Event> look_at_limit(std::size_t resident);
  std::optional<Event> freeze(Clock::time_point& since);
  std::optional<Event> see_all_threads(Clock::time_point& since);
  Event without_memory();
  bool has_ended(int options);
  void stop_for_good();

  SharedMemory control_;
  OutputPipe output_;
  std::size_t output_flood_;
  std::size_t most_threads_;
  bool teams_offered_;
  std::optional<SpareUser> user_;
  Launched launched_;
  pid_t pid_ = -1;     // -1 once reaped
  clockid_t clock_{};  // of the time that all its threads have had
  std::optional<ProcessMemory> memory_;
  std::optional<ProcessTasks> tasks_;
  std::optional<MainThreadTimes> main_times_;
  std::optional<RunTimes> main_before_;          // when we first went to sleep in run()
  std::chrono::nanoseconds we_had_waited_{};     // before we last went to sleep
  std::chrono::nanoseconds processor_before_{};  // of all threads
  Clock::duration excused_{};                    // of run(), because others held it up
  std::uint32_t number_ = 0;
  bool threads_apart_ = false;
  ClockWatch* watch_ = nullptr;
  bool ahead_ = false;
  ThreadsAtWork* at_work_ = nullptr;
  End end_;
  Resident baseline_;
  std::size_t largest_private_ = 0;
  unsigned looks_ = 0;
  std::size_t tables_ = 0;  // page tables when they were last looked at, in bytes
  std::size_t resident_limit_ = ~std::size_t{0};
};

}  // namespace gauntlet
