// What the closed loop costs: starting a worker, and a call above the bare function; and how much
// of it is the isolation. Wanted of the isolation: 3 ms a start and 30 us a call at most.

#include <benchmark/benchmark.h>
#include <dlfcn.h>

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
                  .limits = false,
                  .user = false,
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
void bare_call(benchmark::State& state) {
  void* library = dlopen(config().library.c_str(), RTLD_NOW);
  const auto work = reinterpret_cast<long (*)(const Args*)>(dlsym(library, "work"));
  const std::vector<float> x(static_cast<std::size_t>(state.range(0)), 1.0f);
  std::vector<float> y(x.size());
  const Args args{x.data(), y.data(), state.range(0)};
  for (auto _ : state) {
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
  for (auto _ : state) {
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
  for (auto _ : state) session.run(call);
}
BENCHMARK(whole_call)->Arg(1)->Arg(1 << 16)->UseRealTime();

/// A new process, up to the end of its first call.
void restarted_call(benchmark::State& state) {
  WorkerSession session(config(state.range(0)));
  CopyCall call(1024);
  for (auto _ : state) {
    session.restart();
    session.run(call);
  }
}
BENCHMARK(restarted_call)->ArgName("isolated")->Arg(0)->Arg(kIsolated)->UseRealTime();

}  // namespace
}  // namespace gauntlet

BENCHMARK_MAIN();
