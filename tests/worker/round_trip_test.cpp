// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <csignal>
#include <cstdint>

#include "worker_fixture.h"

using namespace gauntlet;
using namespace gauntlet::test;

namespace {

const char* const kDouble = R"(
  for (int64_t i = 0; i < args->count; ++i) args->y[i] = 2 * args->x[i];
  return args->mode + 1;
)";

volatile std::sig_atomic_t stops_seen = 0;

void count_stop(int, siginfo_t* info, void*) {
  if (info->si_code == CLD_STOPPED) stops_seen = stops_seen + 1;
}

/// How often children are stopped while it lives.
class Stops {
 public:
  Stops() {
    stops_seen = 0;
    struct sigaction counting {};
    counting.sa_sigaction = count_stop;
    counting.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(SIGCHLD, &counting, &before_);
  }
  ~Stops() { sigaction(SIGCHLD, &before_, nullptr); }
  int seen() const { return stops_seen; }

 private:
  struct sigaction before_ {};
};

}  // namespace

TEST_CASE("arrays and numbers go in, results and the return value come back") {
  const Solution solution(work(kDouble));
  WorkCall call(1000, 41);
  solution.session->run(call);
  CHECK(call.returned == 42);
  CHECK(call.elapsed.count() > 0);
  REQUIRE(call.y.view().size() == 1000);
  for (std::size_t i = 0; i < 1000; ++i) REQUIRE(call.y.view()[i] == 2 * call.data[i]);
}

TEST_CASE("a field may point into an input that another names, and into nothing else") {
  const Solution solution(work("args->z == args->x + 3 ? args->y[0] = args->z[0] : 0; return 0;"));
  struct ViewCall : WorkCall {
    ViewCall() : WorkCall(9) { in_view<float>("x", args.z, 3); }
  } call;
  solution.session->run(call);
  CHECK(call.y.view()[0] == call.data[3]);
  CHECK_THROWS_AS(call.in_view<float>("x", call.args.z, 10), Broken);
  CHECK_THROWS_AS(call.in_view<float>("y", call.args.z, 0), Broken);
}

TEST_CASE("a session answers calls of changing sizes, among them none and a single element") {
  const Solution solution(work(kDouble));
  for (const std::size_t count : {1, 0, 5000, 7, 100000, 1024, 1024}) {
    WorkCall call(count);
    solution.session->run(call);
    REQUIRE(call.y.view().size() == count);
    for (std::size_t i = 0; i < count; ++i) REQUIRE(call.y.view()[i] == 2 * call.data[i]);
  }
}

TEST_CASE("arrays that are written on all cores go in whole, and are poison to their last byte") {
  const Solution solution(work(std::string("if (args->mode) return 0;") + kDouble));
  constexpr std::size_t kFirst = std::size_t{1} << 20;  // 4 MiB
  for (const std::size_t count : {kFirst - 1, kFirst, kFirst + 1, kFirst + 4099}) {
    CAPTURE(count);
    WorkCall call(count);
    solution.session->run(call);
    REQUIRE(call.y.view().size() == count);
    CHECK(std::ranges::equal(call.y.view(), call.data, {}, {}, [](float x) { return 2 * x; }));
    WorkCall unwritten(count, 1);
    solution.session->run(unwritten);
    CHECK(std::ranges::all_of(unwritten.buffer("y").result,
                              [](std::byte b) { return b == std::byte{0xFF}; }));
  }
}

TEST_CASE("a process is stopped once for a small call, whatever the one before was like") {
  const Solution solution(work(kDouble));
  WorkCall first(1);
  solution.session->run(first);
  const Stops stops;
  for (const std::size_t count : {1, 5000, 7, 100'000, 1024}) {
    WorkCall call(count);
    solution.session->run(call);
    CHECK(std::ranges::equal(call.y.view().first(1), std::vector{2 * call.data[0]}));
  }
  CHECK(stops.seen() == 5);
  WorkCall large(1'000'000);
  solution.session->run(large);
  CHECK(stops.seen() == 7);  // its pages first
}

TEST_CASE("a buffer that was not named is a null pointer, and one of no bytes is not") {
  const Solution solution(work("return (args->z == nullptr) + 2 * (args->y != nullptr);"));
  WorkCall call(0);
  solution.session->run(call);
  CHECK(call.returned == 3);
}

TEST_CASE("buffers start exactly where their placement says") {
  const Solution solution(work("return (int64_t)((uintptr_t)args->x % 4096);"));
  for (const Placement place : {Placement{4096, 0}, Placement{4096, 4}, Placement{64, 32},
                                Placement{4, 0}, Placement{16, 12}, Placement{4096, 4092}}) {
    for (const std::size_t count : {1, 3, 1000, 1024, 1025}) {
      WorkCall call(count, 0, place);
      solution.session->run(call);
      CHECK(static_cast<std::size_t>(call.returned) % place.alignment == place.skew);
    }
  }
}

TEST_CASE("an output that was not written is poison, also in the second call") {
  const Solution solution(work("if (args->mode) args->y[0] = 1; return 0;"));
  WorkCall first(8, 1);
  solution.session->run(first);
  CHECK(first.y.view()[0] == 1);
  WorkCall second(8, 0);
  solution.session->run(second);
  const auto bytes = second.buffer("y").result;
  CHECK(std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0xFF}; }));
}

TEST_CASE("an inout buffer starts as its source and comes back changed") {
  const Solution solution(work("for (int i = 0; i < args->count; ++i) args->z[i] += 1; return 0;"));
  Call<Args> call("work");
  const std::vector<float> initial{1, 2, 3};
  call.args.count = 3;
  const auto z = call.inout("z", call.args.z, initial);
  solution.session->run(call);
  CHECK(z.copy() == std::vector<float>{2, 3, 4});
  CHECK(initial == std::vector<float>{1, 2, 3});
}

TEST_CASE("restart forgets what the solution remembers") {
  const Solution solution(work("static int calls = 0; return ++calls;"));
  WorkCall call(4);
  solution.session->run(call);
  solution.session->run(call);
  CHECK(call.returned == 2);
  solution.session->restart();
  solution.session->run(call);
  CHECK(call.returned == 1);
}

TEST_CASE("restart forgets what the solution hid in memory that is shared with us") {
  // The mailbox and the outputs are the only shared memory that it may write; it looks for a note
  // everywhere around its output.
  const Solution solution(work(R"(
    unsigned char* base = (unsigned char*)((uintptr_t)args->y & ~(uintptr_t)4095);
    if (mprotect(base + (16 << 20), 4096, PROT_READ | PROT_WRITE) != 0) return -1;
    int64_t seen = base[16 << 20];
    base[16 << 20] = 42;
    return seen;
  )",
                               "#include <sys/mman.h>"));
  WorkCall call(4);
  CHECK(ending_of(*solution.session, call).verdict == Verdict::wrong);
  CHECK(call.returned == 0);
  CHECK(ending_of(*solution.session, call).verdict == Verdict::wrong);
  CHECK(call.returned == 0);
}

TEST_CASE("after a failure the next call meets a fresh process") {
  const Solution solution(
      work("static int calls = 0; if (args->mode) __builtin_trap(); return ++calls;"));
  WorkCall bad(4, 1);
  CHECK(ending_of(*solution.session, bad).verdict == Verdict::crashed);
  WorkCall good(4, 0);
  solution.session->run(good);
  CHECK(good.returned == 1);
}

TEST_CASE("what a solution prints is kept, the beginning of it, and never mixed with results") {
  const Solution solution(
      work(R"(puts("hello"); fprintf(stderr, "there\n"); return 0;)", "#include <stdio.h>"));
  WorkCall call(4);
  solution.session->run(call);
  CHECK(solution.session->output() == "hello\nthere\n");
}

TEST_CASE("honest C++ works inside: threads, OpenMP, exceptions, large memory, names, clocks") {
  const Solution solution(
      work(R"(
    std::atomic<int> sum{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) threads.emplace_back([&sum, i] { sum += i; });
    for (auto& thread : threads) thread.join();
    int parallel = 0;
    #pragma omp parallel for reduction(+ : parallel)
    for (int i = 0; i < 100; ++i) parallel += i;
    int caught = 0;
    try { std::vector<int>().at(3); } catch (const std::out_of_range&) { caught = 1; }
    std::vector<char> large(200 << 20, 1);
    pthread_setname_np(pthread_self(), "solution");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    return sum == 28 && parallel == 4950 && caught && large[5] == 1 && now > 0 &&
           std::thread::hardware_concurrency() > 0 && omp_get_max_threads() > 0;
  )",
           "#include <atomic>\n#include <chrono>\n#include <stdexcept>\n#include <thread>\n"
           "#include <vector>\n#include <omp.h>\n#include <pthread.h>"));
  WorkCall call(4);
  solution.session->run(call);
  CHECK(call.returned == 1);
}

TEST_CASE("the processor time of a solution counts all its workers, and is nobody else's") {
  const Solution solution(work(R"(
    timespec now;
    do clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    while (now.tv_nsec < 50000000 && now.tv_sec == 0);
    return 0;
  )",
                               "#include <time.h>"));
  CHECK(solution.session->cpu_time().count() == 0);
  for (int worker = 1; worker <= 2; ++worker) {
    WorkCall call(1);
    solution.session->run(call);
    solution.session->restart();
    CHECK(solution.session->cpu_time() >= std::chrono::milliseconds(50 * worker));
    CHECK(solution.session->cpu_time() < std::chrono::seconds(5));
  }
}
