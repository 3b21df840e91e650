// What the closed loop costs: starting a worker, and a call above the bare function.

#include <benchmark/benchmark.h>

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

/// The call's own clock: from release to confirmed freeze.
void timed_call(benchmark::State& state) {
  WorkerSession session(config());
  const std::vector<float> x(static_cast<std::size_t>(state.range(0)), 1.0f);
  Call<Args> call("work");
  call.args.count = state.range(0);
  call.in("x", call.args.x, x);
  call.out<float>("y", call.args.y, x.size());
  session.run(call);
  for (auto _ : state) {
    session.run(call);
    state.SetIterationTime(std::chrono::duration<double>(call.elapsed).count());
  }
}
BENCHMARK(timed_call)->Arg(1)->Arg(1 << 16)->Arg(1 << 22)->UseManualTime();

/// What the harness pays for it: inputs, poison, call, checks.
void whole_call(benchmark::State& state) {
  WorkerSession session(config());
  const std::vector<float> x(static_cast<std::size_t>(state.range(0)), 1.0f);
  Call<Args> call("work");
  call.in("x", call.args.x, x);
  call.out<float>("y", call.args.y, x.size());
  for (auto _ : state) session.run(call);
}
BENCHMARK(whole_call)->Arg(1)->Arg(1 << 16)->UseRealTime();

/// A new process, up to the end of its first call.
void restarted_call(benchmark::State& state) {
  WorkerSession session(config());
  const std::vector<float> x(1024, 1.0f);
  Call<Args> call("work");
  call.in("x", call.args.x, x);
  call.out<float>("y", call.args.y, x.size());
  for (auto _ : state) {
    session.restart();
    session.run(call);
  }
}
BENCHMARK(restarted_call)->UseRealTime();

}  // namespace
}  // namespace gauntlet

BENCHMARK_MAIN();
