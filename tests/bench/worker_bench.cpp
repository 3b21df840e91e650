// SPDX-License-Identifier: Apache-2.0
// What the closed loop costs: starting a worker, and a call above the bare function; and how much
// of it is the isolation. Wanted of the isolation: 3 ms a start and 30 us a call at most; the last
// line says what it was, from runs in turns, so that what the machine does meets both alike.

#include <benchmark/benchmark.h>
#include <chrono>
#include <dlfcn.h>
#include <fmt/format.h>
#include <functional>

#include "harness/core/rng.h"
#include "harness/core/stats.h"
#include "tests/bench/bench_solution.h"

namespace gauntlet {
namespace {

struct Args {
  const float* x;
  float* y;
  std::int64_t count;
};

WorkerConfig config() {
  static const ScratchFolder folder("bench");
  return bench_worker(
      folder.path(),
      "struct Args { const float* x; float* y; long count; };\n"
      "extern \"C\" long work(const Args* args) {\n"
      "  for (long i = 0; i < args->count; ++i) args->y[i] = args->x[i];\n  return 0;\n}\n");
}

constexpr std::int64_t kIsolated = 1;

/// The same worker with every wall down: what is left is a process and the closed loop.
WorkerConfig config(std::int64_t isolated) {
  WorkerConfig made = config();
  if (isolated != kIsolated)
    made.walls = {.landlock = false,
                  .seccomp = false,
                  .rlimits = false,
                  .uid = false,
                  .namespaces = false,
                  .descriptors = false,
                  .environment = false};
  return made;
}

/// A call of `count` floats; lives where it is made.
struct CopyCall : Call<Args> {
  std::vector<float> data;

  explicit CopyCall(std::int64_t count)
      : Call("work"), data(static_cast<std::size_t>(count), 1.0f) {
    args.count = count;
    in("x", args.x, data);
    out<float>("y", args.y, data.size());
  }
};

/// The function itself, in this process.
auto bare_function() {
  void* library = dlopen(config().library.c_str(), RTLD_NOW);
  return reinterpret_cast<long (*)(const Args*)>(dlsym(library, "work"));
}

void bare_call(benchmark::State& state) {
  const auto work = bare_function();
  const std::vector<float> x(static_cast<std::size_t>(state.range(0)), 1.0f);
  std::vector<float> y(x.size());
  const Args args{x.data(), y.data(), state.range(0)};
  for ([[maybe_unused]] auto _ : state) {
    work(&args);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(bare_call)->Arg(1)->Arg(1 << 16)->Arg(1 << 22);

/// The call's own clock: from release to confirmed freeze.
void timed_call(benchmark::State& state) {
  WorkerSession session(config(state.range(1)));
  CopyCall call(state.range(0));
  session.run(call);
  for ([[maybe_unused]] auto _ : state) {
    session.run(call);
    state.SetIterationTime(std::chrono::duration<double>(call.elapsed).count());
  }
}
BENCHMARK(timed_call)
    ->ArgNames({"floats", "isolated"})
    ->ArgsProduct({{1, 1 << 16, 1 << 22}, {0, kIsolated}})
    ->UseManualTime();

/// What the harness pays for it: inputs, poison, call, checks.
void whole_call(benchmark::State& state) {
  WorkerSession session(config());
  CopyCall call(state.range(0));
  for ([[maybe_unused]] auto _ : state) session.run(call);
}
BENCHMARK(whole_call)->Arg(1)->Arg(1 << 16)->UseRealTime();

/// A new process, up to the end of its first call.
void restarted_call(benchmark::State& state) {
  WorkerSession session(config(state.range(0)));
  CopyCall call(1024);
  for ([[maybe_unused]] auto _ : state) {
    session.restart();
    session.run(call);
  }
}
BENCHMARK(restarted_call)->ArgName("isolated")->Arg(0)->Arg(kIsolated)->UseRealTime();

using Stopwatch = std::function<double()>;  // runs something once; microseconds

Stopwatch wall(std::function<void()> work) {
  return [work = std::move(work)] {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
        .count();
  };
}

struct Cost {
  double median = 0;
  Interval interval;  // 95 % of the median, by the bootstrap over rounds
  double least = 0;   // the fastest of the one above the fastest of the other
};

/// What `with` takes above `without`, in microseconds.
Cost cost(int rounds, const Stopwatch& with, const Stopwatch& without) {
  std::vector<double> more, fastest_with, fastest_without;
  for (int i = 0; i < rounds; ++i) {
    fastest_with.push_back(with());
    fastest_without.push_back(without());
    more.push_back(fastest_with.back() - fastest_without.back());
  }
  Rng rng(1);
  std::vector<double> medians;
  for (int draw = 0; draw < 400; ++draw) {
    std::vector<double> drawn;
    for (int i = 0; i < rounds; ++i)
      drawn.push_back(more[static_cast<std::size_t>(rng.integer(0, rounds - 1))]);
    medians.push_back(quantile(std::move(drawn), 0.5));
  }
  return {quantile(more, 0.5),
          {quantile(medians, 0.025), quantile(medians, 0.975)},
          quantile(fastest_with, 0) - quantile(fastest_without, 0)};
}

Cost cost_of_start() {
  WorkerSession isolated(config(kIsolated));
  WorkerSession open(config(0));
  CopyCall first(1), second(1);
  const auto start = [](WorkerSession& session, CopyCall& call) {
    return wall([&] {
      session.restart();
      session.run(call);
    });
  };
  return cost(200, start(isolated, first), start(open, second));
}

/// Of a call, by its own clock, above the same function in this process.
Cost cost_of_call() {
  WorkerSession session(config(kIsolated));
  CopyCall call(1);
  session.run(call);
  const float x = 1;
  float y = 0;
  const Args args{&x, &y, 1};
  const auto isolated = [&] {
    session.run(call);
    return std::chrono::duration<double, std::micro>(call.elapsed).count();
  };
  const auto bare = wall([&, work = bare_function()] {
    work(&args);
    benchmark::ClobberMemory();
  });
  return cost(2000, isolated, bare);
}

void print_isolation() {
  const Cost start = cost_of_start();
  const Cost call = cost_of_call();
  fmt::print(
      "isolation: a start costs {:.2f} ms (95 % {:.2f}..{:.2f}, fastest {:.2f}), wanted 3 at most; "
      "a call costs {:.1f} us above the bare function (95 % {:.1f}..{:.1f}, fastest {:.1f}), "
      "wanted "
      "30 at most\n",
      start.median / 1000, start.interval.low / 1000, start.interval.high / 1000,
      start.least / 1000, call.median, call.interval.low, call.interval.high, call.least);
}

}  // namespace
}  // namespace gauntlet

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  gauntlet::print_isolation();
}
