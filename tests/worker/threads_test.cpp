// SPDX-License-Identifier: Apache-2.0
// How many threads a solution may have, and that it leaves others theirs. The kernel counts those
// of a user together: it matters where the sandbox has no user of its own.

#include <thread>

#include "worker_fixture.h"

using namespace gauntlet;
using namespace gauntlet::test;

namespace {

constexpr uid_t kUser = 60996;

/// With the main one, as worker_session.cpp bounds them.
std::int64_t allowed() {
  return 512 + 2 * static_cast<std::int64_t>(std::thread::hardware_concurrency());
}

// Starts `mode` threads that sleep for good, and tells how many there were to be had.
const char* const kSleepers = R"(
  #include <pthread.h>
  #include <unistd.h>
  static void* sleep_on(void*) { for (;;) pause(); }
)";
const char* const kStart = R"(
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 65536);
  for (int64_t i = 0; i < args->mode; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, &small, sleep_on, nullptr) != 0) return i;
  }
  return args->mode;
)";

WorkerConfig sleepers(const ScratchFolder& open) {
  WorkerConfig config = config_for(work(kStart, kSleepers));
  open_to_everybody(config, open);
  config.walls.namespaces = false;  // a user namespace has a count of its own
  return config;
}

/// How many threads a session was given for `wanted`; -1 when it failed.
std::int64_t given(WorkerSession& session, std::int64_t wanted) {
  WorkCall call(4, wanted);
  return ending_of(session, call).verdict == Verdict::passed ? call.returned : -1;
}

}  // namespace

TEST_CASE("whoever has more threads than allowed fails, and nobody beside it") {
  const ScratchFolder open("threads-test");
  const WorkerConfig config = sleepers(open);
  CHECK(as_ordinary_user(kUser, [&] {
          WorkerSession reference(config), solution(config);
          if (given(reference, 0) != 0) return 1;  // started first, when there were few
          WorkCall call(4, 100'000);
          const Ending end = ending_of(solution, call);
          if (end.verdict != Verdict::crashed || !contains(end.text, "threads at once")) return 2;
          return given(reference, 20) == 20 ? 0 : 3;
        }) == 0);
}

TEST_CASE("sixteen sandboxes with all their threads asleep leave one more all of its own") {
  const ScratchFolder open("threads-test");
  const WorkerConfig config = sleepers(open);
  CHECK(as_ordinary_user(kUser, [&] {
          const std::int64_t all = allowed() - 1;
          WorkerSession first(config);
          if (given(first, 0) != 0) return 1;
          std::vector<std::unique_ptr<WorkerSession>> others;
          for (int i = 0; i < 16; ++i) {
            others.push_back(std::make_unique<WorkerSession>(config));
            if (given(*others.back(), all) != all) return 2;
          }
          return given(first, all) == all ? 0 : 3;
        }) == 0);
}

TEST_CASE("threads that are started and joined again and again are no crowd") {
  WorkerConfig config = config_for(work(R"(
    for (int round = 0; round < 60; ++round) {
      std::vector<std::thread> threads;
      for (int64_t i = 0; i < args->mode; ++i) threads.emplace_back([] {});
      for (auto& thread : threads) thread.join();
    }
    return 1;
  )",
                                        "#include <thread>\n#include <vector>"));
  const ScratchFolder open("threads-test");
  open_to_everybody(config, open);
  config.walls.namespaces = false;
  CHECK(as_ordinary_user(kUser, [&] {
          WorkerSession session(config);
          return given(session, allowed() - 8) == 1 ? 0 : 1;
        }) == 0);
}

TEST_CASE("a region without a number of threads shows where teams are offered") {
  // mode: 0 says so, 1 does not, and does nothing, 2 looks for what tells it where it is.
  WorkerConfig config = config_for(work(R"(
    int there = 0;
    if (args->mode == 0) {
      #pragma omp parallel num_threads(2) reduction(+ : there)
      there += 1;
    } else if (args->mode == 2) {
      if (getenv("OMP_NUM_THREADS") || getenv("GLIBC_TUNABLES")) abort();
    } else {
      #pragma omp parallel
      __asm__ volatile("" ::: "memory");
    }
    return there;
  )",
                                        "#include <stdlib.h>"));
  WorkerSession session(config);
  const auto ask = [&](std::int64_t mode) {
    WorkCall call(4, mode);
    return ending_of(session, call);
  };
  CHECK(ask(1).verdict == Verdict::passed);
  session.offer_teams(true);
  CHECK(ask(1).verdict == Verdict::passed);  // in the same process
  session.restart();
  CHECK(ask(0).verdict == Verdict::passed);
  CHECK(ask(2).verdict == Verdict::passed);  // sees none of the variables
  const Ending end = ask(1);
  CHECK(end.verdict == Verdict::wrong);
  CHECK_MESSAGE(contains(end.text, "had 300 threads at once in `work`"), end.text);
  CHECK(ask(0).verdict == Verdict::passed);
  session.offer_teams(false);
  session.restart();
  CHECK(ask(1).verdict == Verdict::passed);
}
