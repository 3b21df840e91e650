// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "harness/measure/race.h"

namespace gauntlet {
namespace {

using Clock = std::chrono::steady_clock;

/// Best of several runs of `work` on every core at once, in seconds.
template <class Work>
double best_seconds(int repeats, const Work& work) {
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  double best = 1e9;
  for (int i = 0; i < repeats; ++i) {
    const auto start = Clock::now();
    std::vector<std::thread> threads;
    for (unsigned core = 0; core < cores; ++core) threads.emplace_back(work, core);
    for (auto& thread : threads) thread.join();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

// 64 MiB a core each way: well beyond the last-level cache of the machines we know.
double copy_gb_per_s() {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::unique_ptr<char[]>> from(cores);
  std::vector<std::unique_ptr<char[]>> to(cores);
  for (unsigned core = 0; core < cores; ++core) {
    from[core] = std::make_unique<char[]>(kBytes);  // zeroed, hence touched
    to[core] = std::make_unique<char[]>(kBytes);
  }
  const double seconds = best_seconds(
      5, [&](unsigned core) { std::memcpy(to[core].get(), from[core].get(), kBytes); });
  return 2.0 * static_cast<double>(kBytes) * cores / seconds * 1e-9;
}

#if defined(__x86_64__)
#define GAUNTLET_FMA_CLONES __attribute__((target_clones("default", "fma", "avx512f")))
#else
#define GAUNTLET_FMA_CLONES
#endif

constexpr int kLanes = 16;
constexpr int kChains = 12;  // independent sums: latency 4 times two units, with some to spare
constexpr long kSteps = 400'000;

typedef float Lanes __attribute__((vector_size(kLanes * sizeof(float))));

void fma_steps(float* sums, float factor, long steps);  // target_clones wants a declaration

// The sums live in vector registers; what they hold is written back so that nothing is optimised
// out.
GAUNTLET_FMA_CLONES void fma_steps(float* sums, float factor, long steps) {
  Lanes chain[kChains];
  std::memcpy(chain, sums, sizeof chain);
  for (long step = 0; step < steps; ++step)
    for (auto& lanes : chain) lanes = lanes * factor + factor;
  std::memcpy(sums, chain, sizeof chain);
}

double fma_gflop_per_s() {
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::vector<float>> sums(cores, std::vector<float>(kLanes * kChains, 0.5f));
  const double seconds =
      best_seconds(3, [&](unsigned core) { fma_steps(sums[core].data(), 0.999f, kSteps); });
  return 2.0 * kLanes * kChains * kSteps * cores / seconds * 1e-9;
}

Ceilings measure() {
  return {copy_gb_per_s(), fma_gflop_per_s()};
}

Ceilings& known() {
  static Ceilings known = measure();
  return known;
}

}  // namespace

const Ceilings& ceilings() {
  return known();
}

const Ceilings& raise_ceilings() {
  const Ceilings again = measure();
  known().copy_gb_per_s = std::max(known().copy_gb_per_s, again.copy_gb_per_s);
  known().fma_gflop_per_s = std::max(known().fma_gflop_per_s, again.fma_gflop_per_s);
  return known();
}

}  // namespace gauntlet
