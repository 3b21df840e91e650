// SPDX-License-Identifier: Apache-2.0
#include "harness/run/calibration.h"

#include <chrono>
#include <fmt/format.h>

#include "harness/build/solution.h"
#include "harness/core/files.h"
#include "harness/grading/timing_gate.h"
#include "harness/measure/race.h"
#include "harness/worker/ahead_of_others.h"
#include "harness/worker/worker_session.h"

namespace gauntlet {
namespace {

struct Args {
  const float* x;
  float* y;
  std::int64_t count;
};

// As many solutions are: OpenMP's pool of threads, each with a part of the array. Nothing in the
// loops is left to a branch predictor: a loop of 16 steps whose end was foreseen in some laps only
// was 1.4 times as slow for some tenths of a second, in one process and not in its twin, and what
// it told was how steady that program is.
constexpr const char* kWork = R"(
#include <omp.h>
struct Args { const float* x; float* y; long count; };
template <int kSteps> long work(const Args& a) {
#pragma omp parallel
  {
    const long all = omp_get_num_threads(), me = omp_get_thread_num();
    for (long i = a.count * me / all; i < a.count * (me + 1) / all; ++i) {
      float v = a.x[i];
#pragma GCC unroll 256
      for (int step = 0; step < kSteps; ++step) v = v * 0.999f + 0.5f;
      a.y[i] = v;
    }
  }
  return 0;
}
extern "C" long memory(const Args* a) { return work<1>(*a); }
extern "C" long arithmetic(const Args* a) { return work<256>(*a); }
)";

struct Work {
  const char* name;  // and that of its function
  std::int64_t count;
};

// Laps of about 1 ms: 24 MiB in and out, and 256 operations that wait for each other per element.
constexpr Work kWorks[] = {{"memory", 3'000'000}, {"arithmetic", 300'000}};

// As the laps of checks have them; the 2 seconds are what finding 5 % may take.
RaceBudget budget() {
  RaceBudget budget;
  budget.time = std::chrono::milliseconds(2000);
  return budget;
}

/// The library of kWork, in a folder that lives as long as this.
class Library {
 public:
  explicit Library(const GradingEnvironment& environment) : folder_("calibrate") {
    write_file(folder_.path() / "contract.h", "");
    Challenge challenge;
    challenge.folder = folder_.path();
    SolutionSource source;
    source.files.push_back({"solution.cpp", kWork});
    config_.worker = environment.worker;
    config_.library = build_solution(source, challenge, folder_.path(), environment.build).library;
    config_.exports = {"memory", "arithmetic"};
    config_.walls = environment.walls;
  }

  const WorkerConfig& config() const { return config_; }

 private:
  ScratchFolder folder_;
  WorkerConfig config_;
};

RaceResult race_once(const Library& library, const Work& work, double slower, const Seed& seed) {
  WorkerSession solution(library.config()), reference(library.config()), again(library.config());
  const auto more = static_cast<std::int64_t>(static_cast<double>(work.count) * (1 + slower));
  std::vector<float> x(static_cast<std::size_t>(more));
  RaceSpec spec;
  spec.case_name = work.name;
  spec.prepare = [&](Rng& rng, Rng&) { x.assign(x.size(), static_cast<float>(rng.uniform())); };
  spec.lap = [&](Session& session) {
    Call<Args> call(work.name);
    call.args.count = &session == &solution ? more : work.count;
    call.in("x", call.args.x, x);
    call.out<float>("y", call.args.y, x.size());
    session.run(call);
    Lap lap;
    lap.took(call);
    return lap;
  };
  return race(spec, budget(), seed, solution, reference, again);
}

void count(CalibrationRow& row, const RaceResult& result, double seconds, const Rubric& rubric) {
  ++row.races;
  row.seconds.push_back(seconds);
  if (result.finding) {
    ++row.unmeasured;
    return;
  }
  row.pairs.push_back(result.speed.rounds);
  const std::string_view verdict = rubric.speed_verdict(result.speed);
  row.called_slower += verdict == "slower" ? 1 : 0;
  row.called_faster += verdict == "faster" ? 1 : 0;
  row.unmeasured += verdict == "too noisy" ? 1 : 0;
}

}  // namespace

Calibration calibrate_races(const GradingEnvironment& environment, const Rubric& rubric, int races,
                            const std::vector<double>& slower, const Seed& seed,
                            const std::function<void(const std::string&)>& say) {
  using Clock = std::chrono::steady_clock;
  const Library library(environment);
  TimingGate gate(environment.gate(), say);
  gate.own();
  Calibration calibration;
  calibration.ahead = AheadOfOthers::allowed();
  calibration.seconds_a_race = std::chrono::duration<double>(budget().time).count();
  for (const NeighbourKind kind :
       {NeighbourKind::none, NeighbourKind::computing, NeighbourKind::streaming})
    for (const double so_much : slower) calibration.rows.push_back({kind, so_much});
  const int all = races * static_cast<int>(calibration.rows.size());
  for (int n = 0; n < races; ++n)
    for (CalibrationRow& row : calibration.rows) {
      const Work& work = kWorks[n % 2];
      const Neighbour neighbour(row.neighbour);
      const auto start = Clock::now();
      const Seed own = derive(seed, fmt::format("{} {} {}", name_of(row.neighbour), row.slower, n));
      const RaceResult result = race_once(library, work, row.slower, own);
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      count(row, result, seconds, rubric);
      const int done = n * static_cast<int>(calibration.rows.size()) +
                       static_cast<int>(&row - calibration.rows.data()) + 1;
      say(fmt::format(
          "race {} of {}: {}, {}, {:.0f} % slower: {}", done, all, name_of(row.neighbour),
          work.name, 100 * row.slower,
          result.finding
              ? result.finding->summary
              : fmt::format("{:.3f}, {:.3f} to {:.3f}, {} pairs, {:.1f} s", result.speed.ratio,
                            result.speed.low, result.speed.high, result.speed.rounds, seconds)));
    }
  return calibration;
}

}  // namespace gauntlet
