// What the closed loop costs: starting a worker, and a call above the bare function.

#include <benchmark/benchmark.h>
#include <filesystem>

#include "harness/build/solution.h"
#include "harness/core/files.h"
#include "harness/worker/worker_session.h"

namespace gauntlet {
namespace {

struct Args {
  const float* x;
  float* y;
  std::int64_t count;
};

WorkerConfig config() {
  static const ScratchFolder folder("bench");
  write_file(folder.path() / "contract.h", "");
  Challenge challenge;
  challenge.folder = folder.path();
  SolutionSource source;
  source.files.push_back(
      {"solution.cpp",
       "struct Args { const float* x; float* y; long count; };\n"
       "extern \"C\" long work(const Args* args) {\n"
       "  for (long i = 0; i < args->count; ++i) args->y[i] = args->x[i];\n  return 0;\n}\n"});
  WorkerConfig config;
  config.worker = std::filesystem::path(GAUNTLET_BIN) / "gauntlet-worker";
  config.library = build_solution(source, challenge, folder.path()).library;
  config.exports = {"work"};
  return config;
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
