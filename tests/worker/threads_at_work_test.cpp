// SPDX-License-Identifier: Apache-2.0
// How many threads were at work at once: what is seen, and what is never taken for work.

#include "harness/worker/threads_at_work.h"

#include "worker_fixture.h"

using namespace gauntlet;
using namespace gauntlet::test;
using namespace std::chrono_literals;

namespace {

/// A look at threads of these numbers of sleeps and tenths of milliseconds used, all ready.
std::vector<ThreadLook> look(const std::vector<std::pair<int, int>>& threads) {
  std::vector<ThreadLook> looks;
  for (const auto& [sleeps, used] : threads)
    looks.push_back({static_cast<pid_t>(looks.size() + 1), static_cast<std::uint64_t>(sleeps), true,
                     std::chrono::microseconds(100 * used)});
  return looks;
}

int seen(const std::vector<std::vector<ThreadLook>>& looks) {
  ThreadsAtWork at_work;
  at_work.go();
  for (const auto& threads : looks) at_work.see(threads);
  return at_work.use().at_once;
}

int seen(std::chrono::nanoseconds passed, std::chrono::nanoseconds processor, std::size_t alive) {
  ThreadsAtWork at_work;
  at_work.go();
  at_work.stop(passed, processor, alive);
  return at_work.use().at_once;
}

// Threads that take turns or work together for `mode` milliseconds of each one's own time.
const char* const kThreads = R"(
  #include <condition_variable>
  #include <mutex>
  #include <thread>
  #include <time.h>
  #include <vector>
  static void work_for(int64_t ms) {
    timespec now;
    do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while (now.tv_sec * 1000 + now.tv_nsec / 1'000'000 < ms);
  }
  static std::mutex mutex;
  static std::condition_variable woken;
  static int64_t turn;
)";

/// Of up to `tries` calls on what may be a busy machine, the most threads seen in one.
int most_seen(const std::string& body, std::int64_t ms, int enough, int tries) {
  const Solution solution(work(body, kThreads));
  int most = 0;
  for (int n = 0; n < tries && most < enough; ++n) {
    solution.session->restart();
    solution.session->watch_threads(false);
    WorkCall call(4, ms);
    CHECK(ending_of(*solution.session, call).verdict == Verdict::passed);
    const ThreadUse seen = solution.session->end_watch();
    CHECK(seen.elapsed == call.elapsed);
    most = std::max(most, seen.at_once);
  }
  return most;
}

}  // namespace

TEST_CASE("more processor time than one thread can use is seen, and a rest is left for waking up") {
  CHECK(seen(20ms, 20ms, 1) == 1);
  CHECK(seen(20ms, 29ms, 2) == 1);
  CHECK(seen(20ms, 31ms, 2) == 2);
  CHECK(seen(20ms, 80ms, 4) == 4);
  CHECK(seen(20ms, 60ms, 80) == 1);
  CHECK(seen(1ms, 4ms, 4) == 0);
}

TEST_CASE("threads that go on together are counted, whoever has the processors") {
  const auto both = look({{7, 0}, {9, 0}}), later = look({{7, 5}, {9, 5}});
  CHECK(seen({both, later, look({{7, 10}, {9, 10}})}) == 2);
  // Both parts are needed, and a thread that merely wakes up uses less.
  CHECK(seen({both, later}) == 0);
  CHECK(seen({both, look({{7, 4}, {9, 4}}), look({{7, 8}, {9, 8}})}) == 0);
  // In turn, one running while the other waits: together, but each only in one part.
  CHECK(seen({both, look({{7, 10}, {9, 0}}), look({{7, 10}, {9, 10}})}) == 0);
  CHECK(seen({both, look({{7, 5}, {9, 0}}), look({{7, 5}, {9, 5}}), look({{7, 10}, {9, 5}}),
              look({{7, 10}, {9, 10}})}) == 2);
}

TEST_CASE("a thread that slept, or had not begun, counts from then on") {
  const auto both = look({{7, 0}, {9, 0}}), end = look({{7, 10}, {9, 10}});
  CHECK(seen({both, look({{7, 5}, {10, 5}}), end}) == 1);
  CHECK(seen({look({{7, 0}}), look({{7, 5}, {9, 0}}), look({{7, 10}, {9, 5}})}) == 1);
  auto asleep = both;
  asleep[1].ready = false;
  CHECK(seen({asleep, look({{7, 5}, {9, 5}}), end}) == 1);
  ThreadsAtWork at_work;
  at_work.see(both);
  at_work.see(look({{7, 5}, {9, 5}}));
  at_work.go();  // they were stopped in between
  at_work.see(end);
  CHECK(at_work.use().at_once == 0);
}

TEST_CASE("what is seen of hundreds of looks is what the last ones show") {
  ThreadsAtWork at_work;
  for (int n = 0; n < 500; ++n) at_work.see(look({{7, 3 * n}, {n, n}}));
  CHECK(at_work.use().at_once == 1);
  for (int n = 500; n < 520; ++n) at_work.see(look({{7, 3 * n}, {500, n}}));
  CHECK(at_work.use().at_once == 2);
}

TEST_CASE("threads of a solution that work together are seen") {
  CHECK(most_seen(R"(
    std::vector<std::thread> others;
    for (int i = 0; i < 3; ++i) others.emplace_back([=] { work_for(args->mode); });
    work_for(args->mode);
    for (auto& other : others) other.join();
    return 0;
  )",
                  60, 4, 20) == 4);
}

TEST_CASE("threads that are alive, that wake up, and that take turns are one at work") {
  CHECK(most_seen(R"(
    std::vector<std::thread> others;
    for (int64_t i = 0; i < 30; ++i)
      others.emplace_back([=] {
        std::unique_lock lock(mutex);
        woken.wait(lock, [=] { return turn > i; });
        work_for(3);
        ++turn;
        woken.notify_all();
      });
    {
      const std::lock_guard lock(mutex);
      turn = 1;
    }
    woken.notify_all();
    for (auto& other : others) other.join();
    turn = 0;
    return 0;
  )",
                  0, 2, 3) <= 1);
}

TEST_CASE("one thread after the other is one at work") {
  CHECK(most_seen(R"(
    for (int i = 0; i < 20; ++i) std::thread([] { work_for(5); }).join();
    return 0;
  )",
                  0, 2, 3) <= 1);
}

TEST_CASE("nothing is counted that nobody asked for") {
  const Solution solution(work("work_for(20); return 0;", kThreads));
  WorkCall call(4);
  solution.session->run(call);
  CHECK(solution.session->end_watch().elapsed == 0ns);
  solution.session->watch_threads(false);
  CHECK(solution.session->end_watch().elapsed == 0ns);
  solution.session->run(call);
  CHECK(solution.session->end_watch().at_once == 0);
}
