// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/worker_process.h"

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>

#include "harness/core/machine.h"
#include "harness/sandbox/landlock.h"
#include "harness/sandbox/launch.h"
#include "harness/sandbox/runtime_files.h"
#include "harness/sandbox/seccomp_filter.h"
#include "harness/worker/ahead_of_others.h"
#include "harness/worker/spread_threads.h"
#include "harness/worker/threads_at_work.h"
#include "harness/worker/time_budget.h"

namespace gauntlet {
namespace {

using namespace std::chrono_literals;

// A sleeping parent wakes some 30 us late; most calls that short are worth waiting awake for.
constexpr auto kAwake = 20us;
// Between two looks at output, memory and the process itself. Memory can grow by some 8 MiB.
constexpr auto kLookAfter = 4ms;
// Page tables are looked at once in so many looks, as that takes twenty times as long: 50 us. They
// grow by a page for each page fault: by 0.5 GiB/s a thread, 16 MiB between two of these looks.
constexpr unsigned kLooksPerTables = 8;
// Half a clock tick of most kernels; some 10 us a thread.
constexpr auto kLookAtThreads = 2ms;
constexpr auto kStartSeconds = 10s;
// For longer than this nobody comes before other programs: they want to live, and threads that wait
// for each other awake could wait for ever.
constexpr auto kAheadFor = 50ms;
// Group stops take microseconds; a process that does not stop in this time never will.
constexpr auto kFreezeSeconds = 5s;

void sleep_while(wire::Word& word, std::uint32_t value, WorkerProcess::Clock::duration at_most) {
  const auto ns = std::chrono::nanoseconds(at_most).count();
  const timespec timeout{ns / 1'000'000'000, ns % 1'000'000'000};
  syscall(SYS_futex, &word, FUTEX_WAIT, value, &timeout, nullptr, 0);
}

/// While we wait awake nobody else runs there.
bool has_one_core() {
  static const bool one = this_machine().cores == 1;
  return one;
}

}  // namespace

WorkerProcess::WorkerProcess(const WorkerParts& parts)
    : control_("gauntlet-control", wire::kPage, SharedMemory::Writers::us_and_it),
      output_(parts.limits.output_kept),
      output_flood_(parts.limits.output_flood),
      most_threads_(parts.walls.rlimits ? static_cast<std::size_t>(parts.limits.processes)
                                        : ~std::size_t{0} / 2),
      teams_offered_(parts.teams_offered) {
  new (control_.base()) wire::Control();
  try {
    start(parts);
  } catch (...) {
    stop_for_good();
    throw;
  }
}

void WorkerProcess::start(const WorkerParts& parts) {
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);  // of our thread: short sleeps stay short
  if (parts.walls.landlock) make_runtime_files_resident();
  user_ = SpareUser::take_if_root();
  const Fd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Fd landlock = landlock_ruleset(worker_rules());
  static const FileView files(worker_rules());
  static const Fd filter =
      sealed_copy(std::as_bytes(std::span(worker_filter())), "gauntlet-filter");
  static const sock_filter kAllow{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
  static const Fd no_filter =
      sealed_copy(std::as_bytes(std::span(&kAllow, 1)), "gauntlet-no-filter");

  LaunchPlan plan;
  plan.argv = {"gauntlet-worker"};
  plan.program = parts.program;
  // OpenMP's threads sleep while they wait, as others do. On the core that the parent needs at the
  // end of a call they would hold it up until the next clock tick (4 ms).
  plan.environment = {"LC_ALL=C", "PATH=/usr/bin:/bin", "OMP_WAIT_POLICY=passive"};
  // Freed blocks that it keeps for a thread would be told as in use.
  if (parts.exact_heap) plan.environment.emplace_back("GLIBC_TUNABLES=glibc.malloc.tcache_count=0");
  if (teams_offered_) plan.environment.push_back(fmt::format("OMP_NUM_THREADS={}", kOfferedTeam));
  plan.descriptors = {null.get(),
                      output_.writing_end(),
                      output_.writing_end(),
                      control_.fd(),
                      parts.arenas->in_fd(),
                      parts.arenas->out_fd(),
                      parts.walls.seccomp ? filter.get() : no_filter.get(),
                      parts.library};
  if (parts.tests >= 0) plan.descriptors.push_back(parts.tests);
  if (parts.device_mailbox >= 0) {
    plan.argv.emplace_back(wire::kWithDevice);
    plan.descriptors.resize(wire::kDeviceFd, null.get());
    plan.descriptors.push_back(parts.device_mailbox);
  }
  plan.landlock = landlock.get();
  plan.files = &files;
  plan.limits = parts.limits;
  plan.walls = parts.walls;
  if (user_) plan.user = user_->id();
  launched_ = launch(plan);
  pid_ = launched_.pid;
  if (clock_getcpuclockid(pid_, &clock_) != 0) broken_call("finding the worker's clock");
  output_.close_writing_end();
  memory_.emplace(pid_);
  tasks_.emplace(pid_);
  main_times_.emplace(pid_);

  parts.arenas->order().kind = wire::OrderKind::lock_down;
  issue();
  if (run(kStartSeconds, kHeldUp * kStartSeconds).event != Event::done)
    throw Broken(OwnFault::worker,
                 fmt::format("the worker did not start: {} {}", control().text, output_.kept()));
  const std::optional<Resident> held = memory_->look();
  if (!held || tasks_->count() == 0)
    throw Broken(OwnFault::kernel,
                 "/proc does not tell the worker's memory and threads: is it mounted in full?");
  baseline_ = *held;
}

WorkerProcess::~WorkerProcess() {
  stop_for_good();
}

std::chrono::nanoseconds WorkerProcess::cpu_time() const {
  timespec spent{};
  if (pid_ < 0 || clock_gettime(clock_, &spent) != 0) return {};
  return std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec);
}

/// Since we went to sleep in run(); a call that is over before was held up by nobody. A call is
/// where the main thread is: what others have to wait for counts only when that one waits as well.
WorkerProcess::Clock::duration WorkerProcess::held_up() const {
  if (pid_ < 0 || !main_before_) return {};
  const RunTimes now = main_times_->now();
  const auto ran = now.ran - main_before_->ran;
  const auto beside = cpu_time() - processor_before_ - ran;
  return gauntlet::held_up(now.waited - main_before_->waited, beside);
}

/// Since it had something to say: what our thread waited for before, while it slept or worked, made
/// nothing late. What its threads ran meanwhile is taken off here too.
WorkerProcess::Clock::duration WorkerProcess::held_us_up(std::chrono::nanoseconds processor) const {
  return gauntlet::held_up(own_run_times().waited - we_had_waited_, processor);
}

WorkerProcess::Leg WorkerProcess::run(Clock::duration at_most, Clock::duration excusable) {
  if (pid_ < 0) throw Broken(OwnFault::bug, "a worker that has ended was told to run");
  wire::Control& shared = control();
  std::optional<SpreadThreads> spread;
  std::optional<AheadOfOthers> ahead;
  if (threads_apart_ || ahead_) {
    const std::vector<Task> threads = tasks_->list();
    if (threads_apart_) spread.emplace(threads);
    if (ahead_) ahead.emplace(threads);
  }
  const bool needs_our_core = spread && spread->any();
  if (watch_ != nullptr) watch_->starts();
  processor_before_ = cpu_time();
  main_before_.reset();
  we_had_waited_ = own_run_times().waited;
  if (at_work_ != nullptr) at_work_->go();
  const auto released = Clock::now();
  kill(pid_, SIGCONT);
  syscall(SYS_futex, &shared.go, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  syscall(SYS_futex, &shared.answered, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  spread.reset();
  Event event = wait({released, released + at_most, excusable},
                     needs_our_core || has_one_core() ? 0us : kAwake, ahead ? &*ahead : nullptr);
  auto since = Clock::now();
  if (event == Event::done || event == Event::asked) event = freeze(since).value_or(event);
  const auto elapsed = since - released;
  const std::chrono::nanoseconds processor = cpu_time() - processor_before_;
  if (event != Event::late)
    excused_ = std::min({held_up() + held_us_up(processor), elapsed, excusable});
  if (at_work_ != nullptr) at_work_->stop(elapsed, processor, tasks_->count());
  std::chrono::nanoseconds lost = watch_ != nullptr ? watch_->stops() : 0ns;
  if (ahead && ahead->holds()) lost = 0ns;  // what others had, it did not want
  ahead.reset();
  if (event != Event::done && event != Event::asked) stop_for_good();
  output_.drain();
  if (event == Event::done && output_.printed() > output_flood_) event = Event::flooded;
  return {event, elapsed, processor, lost, excused_};
}

std::optional<WorkerProcess::Event> WorkerProcess::news() const {
  const wire::Control& shared = control();
  if (shared.done.load(std::memory_order_acquire) == number_) return Event::done;
  if (shared.asked.load(std::memory_order_acquire) != shared.answered.load()) return Event::asked;
  return std::nullopt;
}

WorkerProcess::Event WorkerProcess::wait(const Deadline& deadline, Clock::duration awake,
                                         AheadOfOthers* ahead) {
  const auto released = Clock::now();
  const auto awake_until = released + awake;
  while (Clock::now() < awake_until)
    if (const auto event = news()) return *event;
  auto look_at = Clock::now() + kLookAfter;
  auto late_at = deadline.at;
  auto count_at = at_work_ != nullptr ? Clock::now() + kLookAtThreads : Clock::time_point::max();
  while (true) {
    const std::uint32_t bell = control().bell.load(std::memory_order_acquire);
    if (const auto event = news()) return *event;
    const auto now = Clock::now();
    if (now >= look_at) {
      if (const auto event = look_after()) return *event;
      if (now >= late_at) {
        excused_ = std::min(held_up(), deadline.excusable);
        late_at = deadline.at + excused_;
      }
      if (now >= late_at) return Event::late;
      if (ahead != nullptr && now - released > kAheadFor) ahead->fall_back(tasks_->list());
      look_at = now + kLookAfter;
    }
    if (now >= count_at) {
      look_at_threads(deadline.released);
      count_at = Clock::now() + kLookAtThreads;
    }
    if (!main_before_) main_before_ = main_times_->now();
    we_had_waited_ = own_run_times().waited;
    sleep_while(control().bell, bell, std::min({look_at, late_at, count_at}) - now + 1us);
  }
}

void WorkerProcess::look_at_threads(Clock::time_point released) {
  // The clock after the processor time: whatever comes between makes it look like less.
  const std::chrono::nanoseconds processor = cpu_time() - processor_before_;
  at_work_->see(Clock::now() - released, processor, tasks_->count());
  at_work_->see(tasks_->looks(ThreadsAtWork::kMostThreads));
}

std::optional<WorkerProcess::Event> WorkerProcess::look_after() {
  if (has_ended(WNOHANG)) return Event::ended;
  output_.drain();
  if (output_.printed() > output_flood_) return Event::flooded;
  // Ending threads count until they are gone: whoever starts and joins as many as it may, again and
  // again, has up to twice as many for moments.
  const std::size_t threads = tasks_->count();
  if (teams_offered_ && threads >= kOfferedTeam) return Event::teamed;
  if (threads > 2 * most_threads_) return Event::crowded;
  const Resident now = memory_->glance();
  if (now.private_bytes + now.shared_bytes == 0) return without_memory();
  largest_private_ = std::max(largest_private_, now.private_bytes);
  return look_at_limit(now.private_bytes + now.shared_bytes);
}

std::optional<WorkerProcess::Event> WorkerProcess::look_at_limit(std::size_t resident) {
  if (++looks_ % kLooksPerTables == 0 || resident + tables_ > resident_limit_)
    tables_ = memory_->look().value_or(Resident{}).table_bytes;
  if (resident + tables_ > resident_limit_) return Event::over_memory;
  return std::nullopt;
}

/// Stops every thread, `since` a moment by which the kernel had confirmed it. Otherwise what is the
/// matter: the process ended, or does not stop, or is not as it should be.
std::optional<WorkerProcess::Event> WorkerProcess::freeze(Clock::time_point& since) {
  kill(pid_, SIGSTOP);
  const auto start = Clock::now();
  for (since = start; since < start + kFreezeSeconds; since = Clock::now()) {
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WNOHANG) == 0 &&
        info.si_pid == pid_) {
      since = Clock::now();
      return see_all_threads(since);
    }
    if (has_ended(WNOHANG)) return Event::ended;
    // Asleep only after a while: waking up costs more than most stops take.
    if (since < start + 50us)
      sched_yield();
    else
      std::this_thread::sleep_for(20us);
  }
  return Event::late;
}

/// Threads that are ending take no part in a stop: the kernel confirms it without them, and still
/// walks their lists of locks and clears their identifiers, both in memory of their choice. Their
/// time is the solution's: `since` moves on until the last of them is gone.
std::optional<WorkerProcess::Event> WorkerProcess::see_all_threads(Clock::time_point& since) {
  const auto still = [](const Task& task) { return task.is_still(); };
  for (const auto start = since; since < start + kFreezeSeconds; since = Clock::now()) {
    const std::size_t count = tasks_->count();
    // The only one is the main one, or the process would have ended; and it was seen stopped.
    if (count == 1) return std::nullopt;
    const std::vector<Task> tasks = tasks_->list();
    if (!tasks.empty() && tasks.size() == count && std::all_of(tasks.begin(), tasks.end(), still)) {
      if (tasks.front().state == 'Z') return Event::headless;
      if (teams_offered_ && count >= kOfferedTeam) return Event::teamed;
      if (count > most_threads_) return Event::crowded;
      return std::nullopt;
    }
    if (has_ended(WNOHANG)) return Event::ended;
    std::this_thread::sleep_for(20us);
  }
  return Event::late;
}

/// The main thread has ended, or the whole process is about to: it shows when it is to stop.
WorkerProcess::Event WorkerProcess::without_memory() {
  auto since = Clock::now();
  return freeze(since).value_or(Event::headless);
}

bool WorkerProcess::has_ended(int options) {
  if (pid_ < 0) return true;
  siginfo_t info{};
  const int failed = waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | options);
  if (failed != 0 && errno != ECHILD) return false;
  if (failed == 0 && info.si_pid != pid_) return false;
  end_ = {info.si_code, info.si_status};  // zeros if somebody else has reaped it
  pid_ = -1;
  end_namespace_init(launched_);
  return true;
}

void WorkerProcess::stop_for_good() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  while (!has_ended(0)) {
  }
}

}  // namespace gauntlet
