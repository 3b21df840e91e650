// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/worker_session.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <thread>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/worker/arenas.h"
#include "harness/worker/callback_server.h"
#include "harness/worker/held_up.h"
#include "harness/worker/order.h"
#include "harness/worker/postmortem.h"
#include "harness/worker/shared_memory.h"
#include "harness/worker/threads_at_work.h"
#include "harness/worker/time_budget.h"
#include "harness/worker/worker_process.h"

namespace gauntlet {
namespace {

using Event = WorkerProcess::Event;
using Duration = TimeBudget::Duration;

// Contracts let a caller ask for any number of threads; graders ask for up to 200, whatever the
// machine has, and those of the call before may still be about to end.
constexpr int kThreads = 512;
// With more threads alive, what malloc has in use is chance: see Probe::kGrowing.
constexpr std::size_t kFewThreads = 8;

// Private memory that exists without being used: RLIMIT_DATA counts every thread's whole stack.
constexpr std::size_t kReserved = kThreads * (std::size_t{8} << 20);

// What our answers to the callbacks of one call may take, in limits of the call itself: a call ends
// after twice its limit, whatever it asks. Over all mutants, honest variants and null solutions of
// the challenge that asks most, on two cores that fifteen programs wanted, the answers of a call
// took 0.034 s at most; its limit is 300 times as much.
constexpr double kAnswering = 1;
// Loading, the work of the linker and of constructors, took 0.09 s at most in the same runs.
constexpr double kLoadSeconds = 10;

// Pages are opened at more than 1 GiB/s, so that this takes a millisecond of a call's limit.
constexpr std::size_t kQuicklyLaid = std::size_t{1} << 20;

Limits worker_limits(const WorkerConfig& config) {
  Limits limits;
  limits.cpu_seconds = 0;  // every call has its wall-clock limit
  limits.memory_bytes = config.memory_bytes + kReserved;
  limits.file_bytes = 0;
  limits.processes = kThreads + 2 * static_cast<int>(std::thread::hardware_concurrency());
  limits.open_files = 64;
  return limits;
}

}  // namespace

class WorkerSession::Impl {
 public:
  explicit Impl(WorkerConfig config) : config_(std::move(config)) {}

  void run(CallBase& call) {
    const Layout layout = lay_out(call, config_.arena_bytes);
    begin_charging();
    try {
      if (!worker_) start();
      // In a race, others may have had calls of another layout since.
      const bool elsewhere = ground_ != nullptr && !arenas_->is_shared_out(layout);
      const bool laid = layout == layout_ && call.symbol == symbol_ && !elsewhere;
      const bool lays_itself = !laid && may_lay_itself(call, layout);
      if (!laid) lay(call, layout, lays_itself);
      arenas_->place(call, layout_);
      if (lays_itself) arenas_->order().kind = wire::OrderKind::lay_and_call;
      carry_out(call);
      arenas_->check_surroundings(call, layout_);
      arenas_->hand_over(call, layout_);
      if (ground_ != nullptr && layout_.mailbox_bytes > 0) arenas_->wipe_mailbox(mailbox_used_);
    } catch (...) {
      end_worker();
      charge();
      throw;
    }
    charge();
  }

  void restart() {
    begin_charging();
    end_worker();
    charge();
  }

  void enter_race(RaceGround& ground) {
    restart();
    ground_ = &ground;
  }

  void leave_race() {
    if (ground_ == nullptr) return;
    restart();
    if (arenas_ == ground_->arenas) arenas_.reset();
    ground_ = nullptr;
  }

  void keep_threads_apart() {
    threads_apart_ = true;
    if (worker_) worker_->keep_threads_apart();
  }

  void offer_teams(bool offered) { teams_offered_ = offered; }
  void watch_threads() { at_work_.emplace(); }
  ThreadUse end_watch() {
    const ThreadUse use = at_work_ ? at_work_->use() : ThreadUse();
    at_work_.reset();
    return use;
  }

  void set_device_mailbox(int descriptor) { device_mailbox_ = descriptor; }

  std::chrono::nanoseconds cpu_time() const {
    return earlier_cpu_time_ + (worker_ ? worker_->cpu_time() : std::chrono::nanoseconds());
  }

  std::string output() const {
    return printable(worker_ ? worker_->output().kept() : last_output_);
  }

 private:
  void end_worker() {
    if (worker_) last_output_ = worker_->output().kept();
    earlier_cpu_time_ = cpu_time();
    worker_.reset();
  }

  /// Everything counts, not its own time only: how long we need for what lies around a call,
  /// looking at its memory for one, is the solution's choice as well. Where others held us up does
  /// not: while it ran (`leg`), and around that.
  void charge(const WorkerProcess::Leg* leg = nullptr) {
    if (config_.budget == nullptr) return;
    const auto now = WorkerProcess::Clock::now();
    const auto waited = own_run_times().waited;
    config_.budget->use(now - charged_until_,
                        leg != nullptr ? leg->held_up : Duration(waited - waited_until_));
    charged_until_ = now;
    waited_until_ = waited;
  }

  void begin_charging() {
    charged_until_ = WorkerProcess::Clock::now();
    waited_until_ = own_run_times().waited;
  }

  void start() {
    make_arenas();
    if (!program_) program_ = sealed_copy(config_.worker, "gauntlet-worker");
    if (!library_) library_ = sealed_copy(config_.library, "solution");
    if (!tests_ && !config_.tests.empty()) tests_ = sealed_copy(config_.tests, "tests");
    symbol_.clear();
    layout_ = {};
    const Limits limits = worker_limits(config_);
    worker_.emplace(WorkerParts{program_.get(), library_.get(), tests_.get(), device_mailbox_,
                                &*arenas_, limits, config_.walls, teams_offered_,
                                ground_ == nullptr});
    if (threads_apart_) worker_->keep_threads_apart();
    if (ground_ != nullptr) worker_->race(ground_->watch);
    limit_resident(0);
    write_load_order(arenas_->order(), config_.exports, static_cast<bool>(tests_));
    obey(nullptr, std::min(config_.call_seconds, kLoadSeconds));
  }

  /// Fresh ones for every worker: what the last one left in them must not reach the next. Kept
  /// until now because the results of its last call lie there. In a race they are everybody's, and
  /// are emptied instead.
  void make_arenas() {
    const bool in_race = ground_ != nullptr && ground_->arenas;
    if (!in_race || arenas_ != ground_->arenas) {
      if (const auto last = std::move(arenas_)) last->require_nobody_left();
      arenas_ = in_race ? ground_->arenas : std::make_shared<Arenas>(config_.arena_bytes);
    }
    if (in_race) arenas_->share_out({});
    if (ground_ != nullptr) ground_->arenas = arenas_;
  }

  /// Small calls take less time than to stop a process and let it go on: one that nobody times, and
  /// around which nothing is measured, has its pages opened by the order to call.
  bool may_lay_itself(const CallBase& call, const Layout& layout) const {
    return ground_ == nullptr && !at_work_ && !call.measure_memory &&
           layout.body_bytes() <= kQuicklyLaid;
  }

  void lay(CallBase& call, const Layout& layout, bool by_the_call) {
    symbol_.clear();
    const Layout last = std::exchange(layout_, layout);
    // Before the solution runs again, inputs of earlier calls are gone, and so are pages that the
    // new layout has no place for; those of this call come later, when its time counts.
    if (ground_ != nullptr)
      arenas_->share_out(layout_);
    else
      arenas_->forget_calls(last, layout_);
    if (ground_ == nullptr && !by_the_call) arenas_->poison(layout_);
    write_lay_order(arenas_->order(), call.symbol, layout_);
    if (!by_the_call) obey(&call, config_.call_seconds);
    symbol_ = call.symbol;
    limit_resident(wire::kOrderBytes + layout_.body_bytes() + layout_.mailbox_bytes);
  }

  /// `laid_out` are the pages that it shares with us.
  void limit_resident(std::size_t laid_out) {
    const Resident& base = worker_->baseline();
    if (config_.walls.rlimits)
      worker_->limit_resident(base.private_bytes + base.file_bytes + base.shared_bytes + laid_out +
                              config_.memory_bytes);
  }

  /// Shared pages that are not the solution's memory: what the worker had before, and the bodies.
  /// Its own library is its memory: it can drop that.
  std::size_t our_shared(const Resident& now) const {
    return std::min(now.shared_bytes,
                    worker_->baseline().shared_bytes + wire::kOrderBytes + layout_.body_bytes());
  }

  FailureContext context(const CallBase* call, double seconds) const {
    FailureContext context;
    context.worker = &*worker_;
    context.call = call;
    context.layout = call != nullptr ? &layout_ : nullptr;
    context.seconds = seconds;
    context.memory_bytes = config_.memory_bytes;
    context.output_bytes = Limits().output_flood;
    context.threads = worker_limits(config_).processes;
    return context;
  }

  /// Lets the worker run for as long as all limits leave it.
  WorkerProcess::Leg run_worker(Duration at_most, Duration excusable) {
    const TimeBudget* budget = config_.budget;
    if (budget == nullptr) return worker_->run(at_most, excusable);
    charge();
    if (budget->left() <= Duration()) throw budget->used_up();
    const WorkerProcess::Leg leg =
        worker_->run(std::min(at_most, budget->left()), std::min(excusable, budget->excusable()));
    charge(&leg);
    if (leg.event == Event::late && budget->left() <= Duration()) throw budget->used_up();
    return leg;
  }

  /// Has an order carried out that is not a call.
  void obey(const CallBase* call, double seconds) {
    worker_->issue();
    worker_->watch_threads(nullptr);
    const WorkerProcess::Leg leg = run_worker(duration_of(seconds), kHeldUp * duration_of(seconds));
    if (leg.event != Event::done) throw failure_of(leg.event, context(call, seconds));
    if (worker_->control().reply != wire::Reply::ok) throw refusal_of(worker_->control());
  }

  void carry_out(CallBase& call) {
    if (call.measure_memory) begin_measuring(call);
    const Duration limit = duration_of(config_.call_seconds);
    worker_->issue();
    worker_->watch_threads(at_work_ ? &*at_work_ : nullptr);
    Duration spent{}, held_up{}, answering{};
    call.processor = call.lost = {};
    while (true) {
      const WorkerProcess::Leg leg =
          run_worker(limit - (spent - held_up), kHeldUp * limit - held_up);
      spent += leg.elapsed;
      held_up += leg.held_up;
      call.processor += leg.processor;
      call.lost += leg.lost;
      if (leg.event == Event::done) break;
      if (leg.event != Event::asked || call.callbacks().empty())
        throw failure_of(leg.event, context(&call, config_.call_seconds));
      answering += answer(call);
      if (answering > kAnswering * limit) throw too_many_questions(call);
    }
    if (worker_->control().reply != wire::Reply::ok) throw refusal_of(worker_->control());
    call.elapsed = std::chrono::duration_cast<std::chrono::nanoseconds>(spent);
    if (worker_->control().float_controls_changed) throw other_float_controls(call);
    call.returned = worker_->control().returned;
    const bool tells_heap = call.measure_heap && worker_->threads() <= kFewThreads;
    call.heap_bytes = tells_heap ? std::optional(worker_->control().heap_bytes) : std::nullopt;
    call.peak_bytes.reset();
    if (call.measure_memory) call.peak_bytes = measured(call);
  }

  /// How long it took us. The solution waits meanwhile, but chooses how much it asks.
  Duration answer(CallBase& call) {
    const auto start = WorkerProcess::Clock::now();
    mailbox_used_ = std::max(
        mailbox_used_,
        answer_callback(call, worker_->control(), arenas_->mailbox(), layout_.mailbox_bytes));
    return WorkerProcess::Clock::now() - start;
  }

  SolutionFailure too_many_questions(const CallBase& call) const {
    return {Verdict::timed_out,
            fmt::format("`{}` called back for so much that the answers took {:g} s", call.symbol,
                        kAnswering * config_.call_seconds)};
  }

  static SolutionFailure other_float_controls(const CallBase& call) {
    return {Verdict::wrong,
            fmt::format("`{}` returned with another rounding mode, or another treatment of "
                        "subnormal numbers or floating-point exceptions, than it was called with",
                        call.symbol)};
  }

  /// Of a worker that is stopped, with its main thread: nothing but the kernel, out of memory, can
  /// have ended it since.
  Resident memory_now(const CallBase& call) const {
    const std::optional<Resident> now = worker_->memory().look();
    if (!now)
      throw SolutionFailure(Verdict::over_memory,
                            fmt::format("the system ran out of memory around `{}`", call.symbol));
    return *now;
  }

  void begin_measuring(const CallBase& call) {
    arenas_->give_back_gaps(layout_);
    mailbox_used_ = 0;
    worker_->memory().reset_peak();
    worker_->forget_largest();
    before_ = memory_now(call);
  }

  /// Largest private memory since begin_measuring, above what the worker had before the solution
  /// was loaded. The kernel keeps the peak of all resident pages together; what is ours is taken
  /// off again: all of it stays resident throughout the call, and so do pages of the arenas that
  /// the solution opened itself. The mailbox began empty: what a request used is ours.
  std::int64_t measured(const CallBase& call) const {
    const Resident after = memory_now(call);
    const std::size_t grown =
        after.shared_bytes - std::min(after.shared_bytes, before_.shared_bytes);
    const auto ours = static_cast<std::int64_t>(
        our_shared(before_) + worker_->baseline().file_bytes + std::min(grown, mailbox_used_));
    const auto peak = std::max(static_cast<std::int64_t>(after.peak_bytes) - ours,
                               static_cast<std::int64_t>(worker_->largest_private()));
    return std::max<std::int64_t>(
        0, peak - static_cast<std::int64_t>(worker_->baseline().private_bytes));
  }

  WorkerConfig config_;
  Fd program_;
  Fd library_;
  Fd tests_;
  int device_mailbox_ = -1;
  std::shared_ptr<Arenas> arenas_;  // nobody else's but in a race
  std::optional<WorkerProcess> worker_;
  Layout layout_;       // that the worker has opened
  std::string symbol_;  // that it has found
  Resident before_;
  std::size_t mailbox_used_ = 0;  // by the largest request since begin_measuring(), if ever
  bool threads_apart_ = false;
  bool teams_offered_ = false;
  std::optional<ThreadsAtWork> at_work_;
  RaceGround* ground_ = nullptr;
  WorkerProcess::Clock::time_point charged_until_;
  std::chrono::nanoseconds waited_until_{};  // by our thread, for a processor
  std::string last_output_;
  std::chrono::nanoseconds earlier_cpu_time_{};  // of workers that are gone
};

WorkerSession::WorkerSession(WorkerConfig config)
    : impl_(std::make_unique<Impl>(std::move(config))) {}
WorkerSession::~WorkerSession() = default;
void WorkerSession::run(CallBase& call) {
  impl_->run(call);
}
void WorkerSession::restart() {
  impl_->restart();
}
void WorkerSession::keep_threads_apart() {
  impl_->keep_threads_apart();
}
void WorkerSession::offer_teams(bool offered) {
  impl_->offer_teams(offered);
}
void WorkerSession::watch_threads(bool /*again*/) {
  impl_->watch_threads();
}
ThreadUse WorkerSession::end_watch() {
  return impl_->end_watch();
}
void WorkerSession::enter_race(RaceGround& ground) {
  impl_->enter_race(ground);
}
void WorkerSession::leave_race() {
  impl_->leave_race();
}
std::chrono::nanoseconds WorkerSession::cpu_time() const {
  return impl_->cpu_time();
}
void WorkerSession::set_device_mailbox(int descriptor) {
  impl_->set_device_mailbox(descriptor);
}
std::string WorkerSession::output() const {
  return impl_->output();
}

}  // namespace gauntlet
