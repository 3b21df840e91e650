// SPDX-License-Identifier: Apache-2.0
// What calls take together is bounded, however short each of them is.

#include "harness/worker/time_budget.h"

#include <csignal>
#include <sched.h>
#include <sys/resource.h>
#include <thread>

#include "harness/worker/held_up.h"
#include "worker_fixture.h"

using namespace gauntlet;
using namespace gauntlet::test;

namespace {

constexpr const char* kSleepy = R"(
#include <time.h>
static void nap() {
  const timespec t = {0, 50'000'000};
  nanosleep(&t, nullptr);
}
)";

/// Asks until a call fails; how many calls that took, and how it ended.
std::pair<int, Ending> calls_until_the_end(Session& session, bool restarts) {
  for (int calls = 1; calls <= 100; ++calls) {
    if (restarts) session.restart();
    WorkCall call(4);
    if (const Ending end = ending_of(session, call); end.verdict != Verdict::passed)
      return {calls, end};
  }
  return {0, {}};
}

/// Seconds of processor time of all processes of ours that have ended.
double used_by_children() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

}  // namespace

// A busy machine makes naps longer and the calls fewer: the bounds below hold on any.

TEST_CASE("time in which others had the processors does not count, within a limit") {
  using namespace std::chrono_literals;
  TimeBudget budget(10, 15);
  budget.use(8s, 7s);
  CHECK(budget.left() == 9s);
  CHECK(budget.excusable() == 23s);
  budget.use(2s, 5s);  // no more than the time itself
  CHECK(budget.left() == 9s);
  CHECK(budget.excusable() == 21s);
  budget.use(1s, -5s);
  CHECK(budget.left() == 8s);
  budget.use(30s, 30s);
  CHECK(budget.left() == -1s);
  CHECK(budget.excusable() == 0s);
  CHECK(contains(budget.used_up().what(), "used 11.0 s of the 10 s that those of one check"));
  budget.begin_check();
  CHECK(budget.left() == 10s);
  CHECK(budget.excusable() == 6s);  // of the cell, which was held up for 39 s of 45
}

TEST_CASE("checks that are asked at the same time have a limit each, and the cell's together") {
  using namespace std::chrono_literals;
  TimeBudget budget(10, 15);
  TimeBudget other = budget.beside();
  budget.use(8s);
  CHECK(budget.left() == 2s);
  CHECK(other.left() == 7s);
  other.use(7s);
  CHECK(budget.left() == 0s);
  CHECK(budget.cell_is_used_up());
  CHECK(contains(other.used_up().what(), "used 15.0 s of the 15 s that those of all checks"));
}

TEST_CASE("whoever waits for threads of his own is held up by nobody") {
  using namespace std::chrono_literals;
  CHECK(held_up(5s, 0s) == 5s);
  CHECK(held_up(5s, 2s) == 3s);
  CHECK(held_up(5s, 90s) == 0s);
  CHECK(parsed_run_times("123 4567 8\n").ran == 123ns);
  CHECK(parsed_run_times("123 4567 8\n").waited == 4567ns);
  CHECK(parsed_run_times("123").ran == 0ns);
  CHECK(parsed_run_times("").waited == 0ns);
}

TEST_CASE("a thread that shares a processor with another program is held up, and says so") {
  const int core = sched_getcpu();
  cpu_set_t one, all;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  const pid_t other = fork();
  if (other == 0)
    for (;;) {
    }
  const auto start = std::chrono::steady_clock::now();
  const RunTimes before = own_run_times();
  while (own_run_times().waited - before.waited < std::chrono::milliseconds(20) &&
         std::chrono::steady_clock::now() - start < std::chrono::seconds(30)) {
  }
  CHECK(own_run_times().waited - before.waited >= std::chrono::milliseconds(20));
  CHECK(own_run_times().ran > before.ran);
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
  sched_setaffinity(0, sizeof all, &all);
}

TEST_CASE("threads that keep each other from running gain nothing by it") {
  Solution solution(work(R"(
    for (int i = 0; i < 24; ++i) std::thread([] { for (;;) {} }).detach();
    for (;;) {}
  )",
                         "#include <thread>"));
  // However busy the machine is: where others hold the main thread up for longer than its own
  // threads run, all of them together run for the limit; else all cores do at most.
  constexpr double kLimit = 0.5;
  const double most = kLimit * std::thread::hardware_concurrency() + 0.5;  // load, start, kill
  TimeBudget budget(kLimit, 600);
  for (const bool by_budget : {false, true}) {
    CAPTURE(by_budget);
    solution.config.call_seconds = by_budget ? 600 : kLimit;
    solution.config.budget = by_budget ? &budget : nullptr;
    solution.open();
    const double used_before = used_by_children();
    const auto start = std::chrono::steady_clock::now();
    WorkCall call(4);
    const Ending end = ending_of(*solution.session, call);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    CHECK(end.verdict == Verdict::timed_out);
    CHECK(contains(end.text, by_budget ? "s of the 0.5 s" : "0.5 s"));
    CHECK(used_by_children() - used_before < most);
    CHECK(took.count() < (1 + kHeldUp) * kLimit + 10);  // 10: for 25 threads to start and end
  }
}

TEST_CASE("calls that each stay below their limit end with the budget of the check") {
  Solution solution(work("nap(); return 0;", kSleepy));
  TimeBudget budget(0.4, 600);
  solution.config.budget = &budget;
  solution.open();
  const auto [calls, end] = calls_until_the_end(*solution.session, false);
  CHECK(calls > 0);
  CHECK(calls <= 9);
  CHECK(end.verdict == Verdict::timed_out);
  CHECK(contains(end.text, "s of the 0.4 s that those of one check may take together"));
  CHECK_FALSE(budget.cell_is_used_up());
}

TEST_CASE("what checks leave of the cell's budget is what the next one has") {
  Solution solution(work("nap(); return 0;", kSleepy));
  TimeBudget budget(0.4, 0.6);
  solution.config.budget = &budget;
  solution.open();
  CHECK(calls_until_the_end(*solution.session, false).second.verdict == Verdict::timed_out);
  budget.begin_check();
  CHECK(budget.left() > TimeBudget::Duration());
  const auto [calls, end] = calls_until_the_end(*solution.session, false);
  CHECK(calls <= 5);
  CHECK(contains(end.text, "s of the 0.6 s that those of all checks may take together"));
  budget.begin_check();
  CHECK(calls_until_the_end(*solution.session, false).first == 1);
}

TEST_CASE("the time of being loaded counts, in every new process") {
  Solution solution(
      work("return 0;",
           std::string(kSleepy) + "__attribute__((constructor)) static void now() { nap(); }"));
  TimeBudget budget(0.4, 600);
  solution.config.budget = &budget;
  solution.open();
  const auto [calls, end] = calls_until_the_end(*solution.session, true);
  CHECK(calls > 0);
  CHECK(calls <= 9);
  CHECK(end.verdict == Verdict::timed_out);
}

TEST_CASE("a call that would hang ends with what is left of the budget") {
  Solution solution(work("for (;;) nap();", kSleepy));
  TimeBudget budget(0.3, 600);
  solution.config.budget = &budget;
  solution.open();
  WorkCall call(4);
  CHECK(contains(ending_of(*solution.session, call).text, "s of the 0.3 s"));
}
