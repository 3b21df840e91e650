// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/ceilings.h"

#include <algorithm>
#include <chrono>
#include <doctest/doctest.h>
#include <functional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace gauntlet;

TEST_CASE("the ceilings are those of a machine of this century, and only ever rise") {
  // A look beside other programs finds too little: 0.6 GB/s were read on a crowded machine. A wrong
  // unit stays wrong however often one looks.
  const auto found = [] { return std::min(ceilings().read_gb_per_s, ceilings().copy_gb_per_s); };
  for (int look = 0; look < 50 && found() < 1; ++look) raise_ceilings();
  const Ceilings first = ceilings();
  CHECK(first.read_gb_per_s > 1);
  CHECK(first.read_gb_per_s < 5000);
  CHECK(first.copy_gb_per_s > 1);
  CHECK(first.copy_gb_per_s < 5000);
  CHECK(first.fma_gflop_per_s > 1);
  const Ceilings& again = raise_ceilings();
  CHECK(again.read_gb_per_s >= first.read_gb_per_s);
  CHECK(again.copy_gb_per_s >= first.copy_gb_per_s);
  CHECK(again.cache_gb_per_s >= first.cache_gb_per_s);
  CHECK(again.fma_gflop_per_s >= first.fma_gflop_per_s);
  CHECK(&again == &ceilings());
}

#if defined(__x86_64__)
namespace {

/// The best of some runs, in seconds.
double best_seconds(const std::function<void()>& run) {
  double best = 1e9;
  for (int turn = 0; turn < 20; ++turn) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    best = std::min(best, taken.count());
  }
  return best;
}

/// 2 * 8 * 8 operations a step.
__attribute__((target("avx2,fma"))) float eight_chains(long steps) {
  const __m256 factor = _mm256_set1_ps(0.999f);
  __m256 a = factor, b = factor, c = factor, d = factor, e = factor, f = factor, g = factor,
         h = factor;
  for (long step = 0; step < steps; ++step) {
    a = _mm256_fmadd_ps(a, factor, factor);
    b = _mm256_fmadd_ps(b, factor, factor);
    c = _mm256_fmadd_ps(c, factor, factor);
    d = _mm256_fmadd_ps(d, factor, factor);
    e = _mm256_fmadd_ps(e, factor, factor);
    f = _mm256_fmadd_ps(f, factor, factor);
    g = _mm256_fmadd_ps(g, factor, factor);
    h = _mm256_fmadd_ps(h, factor, factor);
  }
  return _mm256_cvtss_f32(a + b + c + d + e + f + g + h);
}

/// Of so many, a multiple of 16.
__attribute__((target("avx2"))) long sum_of(const std::vector<long>& words) {
  __m256i a{}, b{}, c{}, d{};
  for (std::size_t i = 0; i < words.size(); i += 16) {
    const auto* four = reinterpret_cast<const __m256i*>(&words[i]);
    a = _mm256_add_epi64(a, _mm256_loadu_si256(four));
    b = _mm256_add_epi64(b, _mm256_loadu_si256(four + 1));
    c = _mm256_add_epi64(c, _mm256_loadu_si256(four + 2));
    d = _mm256_add_epi64(d, _mm256_loadu_si256(four + 3));
  }
  return _mm256_extract_epi64(_mm256_add_epi64(_mm256_add_epi64(a, b), _mm256_add_epi64(c, d)), 0);
}

}  // namespace

// Else solutions that are fast are taken for liars.
TEST_CASE("one core does no more in plain loops than the ceilings of all say") {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return;
  volatile float sum = 0;
  volatile long words_sum = 0;
  constexpr long kSteps = 100'000;
  const std::vector<long> words((1 << 18) / sizeof(long));
  const double gflop = 128e-9 * kSteps / best_seconds([&] { sum = eight_chains(kSteps); });
  const double gb = 1e-9 * (1 << 18) / best_seconds([&] { words_sum = sum_of(words); });
  const auto enough = [&] {
    return ceilings().fma_gflop_per_s > 0.95 * gflop && ceilings().cache_gb_per_s > 0.3 * gb;
  };
  for (int look = 0; look < 50 && !enough(); ++look) raise_ceilings();
  CHECK(ceilings().fma_gflop_per_s > 0.95 * gflop);
  // These words lie in a cache of the core's own, which is faster than the one that all share.
  CHECK(ceilings().cache_gb_per_s > 0.3 * gb);
}
#endif

TEST_CASE("a race may look as often as it likes, and has nine tenths of the time to itself") {
  using Clock = std::chrono::steady_clock;
  const auto taken_by = [](const auto& what) {
    const Clock::time_point begin = Clock::now();
    what();
    return Clock::now() - begin;
  };
  ceilings();  // the first takes its memory too
  const auto look = taken_by(raise_ceilings);
  auto again = taken_by(raise_ceilings_now_and_then);
  for (int i = 0; i < 4; ++i) again = std::min(again, taken_by(raise_ceilings_now_and_then));
  CHECK(again < look / 10);
  std::this_thread::sleep_for(11 * look);
  CHECK(taken_by(raise_ceilings_now_and_then) > 10 * again);
}

TEST_CASE("a fork looks by threads of its own") {
  ceilings();
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(60);  // whoever waits for the other one's threads waits for ever
    raise_ceilings();
    _exit(ceilings().read_gb_per_s > 0 ? 0 : 1);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("bytes are held against the memory that they have to come from, or go to") {
  // A byte read takes 1/40 ns; a byte stored 2/50 - 1/40 = 3/200 ns more than nothing.
  constexpr Ceilings kMachine{40, 50, 200, 500};
  constexpr double kCache = 1e6;
  CHECK(least_ns({}, kCache, kMachine) == 0);
  CHECK(least_ns({.bytes = 1e9, .written = 0}, 0, kMachine) == doctest::Approx(1e9 / 40));
  CHECK(least_ns({.bytes = 2e9, .written = 1e9}, 0, kMachine) == doctest::Approx(2e9 / 50));
  CHECK(least_ns({.bytes = 1e6, .written = 1e5}, kCache, kMachine) == doctest::Approx(1e6 / 200));
  CHECK(least_ns({.bytes = 3e6}, kCache, kMachine) == doctest::Approx(2e6 / 40 + 1e6 / 200));
  CHECK(least_ns({.bytes = 1e6, .flops = 1e9}, kCache, kMachine) == doctest::Approx(1e9 / 500));
  // Of a cache that nobody knows, nothing is expected.
  CHECK(least_ns({.bytes = 1e6}, kCache, {40, 50, 0, 500}) == doctest::Approx(1e6 / 40));
}
