// SPDX-License-Identifier: Apache-2.0
// How often the races tell a program from itself. Prints, for a few ways of working on all cores,
// how many races came out faster or slower by more than 5 %, or too noisy to say.
//
//   gauntlet_bench_race [RACES]      races of each kind, default 125: four kinds, 500 races

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "harness/core/machine.h"
#include "harness/measure/race.h"
#include "tests/bench/bench_solution.h"

namespace gauntlet {
namespace {

struct Args {
  const float* x;
  float* y;
  std::int64_t count;
  std::int64_t steps;
};

constexpr const char* kWork = R"(
struct Args { const float* x; float* y; long count; long steps; };
static void part(const Args* a, long begin, long end) {
  for (long i = begin; i < end; ++i) {
    float v = a->x[i];
    for (long step = 0; step < a->steps; ++step) v = v * 0.999f + 0.5f;
    a->y[i] = v;
  }
}
)";

constexpr const char* kPool = R"(
#include <omp.h>
extern "C" long work(const Args* a) {
#pragma omp parallel
  {
    const long all = omp_get_num_threads(), me = omp_get_thread_num();
    part(a, a->count * me / all, a->count * (me + 1) / all);
  }
  return 0;
}
)";

constexpr const char* kThreads = R"(
#include <thread>
#include <vector>
extern "C" long work(const Args* a) {
  const long all = std::thread::hardware_concurrency();
  std::vector<std::thread> others;
  for (long me = 1; me < all; ++me)
    others.emplace_back([=] { part(a, a->count * me / all, a->count * (me + 1) / all); });
  part(a, 0, a->count / all);
  for (auto& other : others) other.join();
  return 0;
}
)";

struct Kind {
  const char* name;
  const char* way;
  std::int64_t count;
  std::int64_t steps;
};

constexpr Kind kKinds[] = {
    {"pool of threads, memory-bound", kPool, 4'000'000, 1},
    {"pool of threads, compute-bound", kPool, 1'000'000, 10},
    {"new threads each call, memory-bound", kThreads, 4'000'000, 1},
    {"new threads each call, compute-bound", kThreads, 1'000'000, 10},
};

// As the rubric has it: more than a third of the points between an eighth and the whole speed.
constexpr double kTooNoisy = 2.0;

struct Tally {
  int races = 0;
  int told_apart = 0;
  int covered = 0;
  int too_noisy = 0;
  int busy = 0;  // the machine had too much else to do
  double rounds = 0;
  std::vector<double> fastest_ms;  // of the solution, in each race
};

Tally race_against_itself(const Kind& kind, int races) {
  const ScratchFolder folder("bench");
  const WorkerConfig config = bench_worker(folder.path(), std::string(kWork) + kind.way);

  std::vector<float> x(static_cast<std::size_t>(kind.count));
  RaceSpec spec;
  spec.case_name = kind.name;
  spec.prepare = [&](Rng& rng, Rng&) { x.assign(x.size(), static_cast<float>(rng.uniform())); };
  spec.lap = [&](Session& session) {
    Call<Args> call("work");
    call.args.count = kind.count;
    call.args.steps = kind.steps;
    call.in("x", call.args.x, x);
    call.out<float>("y", call.args.y, x.size());
    session.run(call);
    return Lap{call.elapsed, {}};
  };
  Tally tally;
  for (; tally.races < races; ++tally.races) {
    WorkerSession solution(config), reference(config), again(config);
    const RaceResult result = race(spec, RaceBudget(), static_cast<std::uint64_t>(tally.races),
                                   solution, reference, again);
    if (result.finding) {
      ++tally.busy;
      continue;
    }
    const SpeedMeasurement& speed = result.speed;
    tally.rounds += speed.rounds;
    tally.fastest_ms.push_back(1e-6 * speed.solution_ns);
    if (speed.high > kTooNoisy * speed.low || speed.noise_high > kTooNoisy * speed.noise_low) {
      ++tally.too_noisy;
      continue;
    }
    if (speed.low > 1.05 || speed.high < 1 / 1.05) ++tally.told_apart;
    if (speed.low <= 1 && speed.high >= 1) ++tally.covered;
  }
  return tally;
}

/// Races that are even because every contestant is slow show only here.
std::string laps_text(const std::vector<double>& fastest_ms) {
  if (fastest_ms.empty()) return "";
  const auto [least, most] = std::ranges::minmax(fastest_ms);
  return fmt::format(", fastest laps {:.2f} to {:.2f} ms", least, most);
}

}  // namespace
}  // namespace gauntlet

int main(int argc, char** argv) {
  using namespace gauntlet;
  const int races = argc > 1 ? std::atoi(argv[1]) : 125;
  const Machine machine = this_machine();
  fmt::print("{}, {} cores, {}\n", machine.cpu, machine.cores, machine.kernel);
  int all = 0, told_apart = 0;
  for (const Kind& kind : kKinds) {
    const Tally tally = race_against_itself(kind, races);
    fmt::print(
        "{:37} {} races: {} told apart, {} too noisy, {} on a busy machine, interval holds 1 in "
        "{}, {:.0f} rounds{}\n",
        kind.name, tally.races, tally.told_apart, tally.too_noisy, tally.busy, tally.covered,
        tally.rounds / std::max(1, tally.races - tally.busy), laps_text(tally.fastest_ms));
    std::fflush(stdout);
    all += tally.races;
    told_apart += tally.told_apart;
  }
  fmt::print("told apart from itself: {} of {}\n", told_apart, all);
}
