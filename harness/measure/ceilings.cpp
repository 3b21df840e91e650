// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/ceilings.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <sched.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "harness/core/machine.h"
#include "harness/worker/ahead_of_others.h"

namespace gauntlet {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<int> own_cores() {
  cpu_set_t ours;
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof ours, &ours) != 0) return {0};
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &ours)) cores.push_back(core);
  return cores;
}

void stay_on(int core) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(core, &only);
  sched_setaffinity(0, sizeof only, &only);
}

/// A thread on every core, to the end of the process. Between two looks they sleep.
class Pool {
 public:
  using Work = std::function<void(std::size_t core)>;

  Pool() : cores_(own_cores()), gate_(static_cast<std::ptrdiff_t>(cores_.size()) + 1) {
    for (std::size_t n = 0; n < cores_.size(); ++n) std::thread([this, n] { serve(n); }).detach();
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  std::size_t cores() const { return cores_.size(); }

  /// The best of several runs of `work` on all cores at once, in seconds. What a run takes counts
  /// from when all threads are awake to the end of the last one.
  double best_seconds(int runs, const Work& work) {
    work_ = &work;
    runs_ = runs;
    best_ = 1e9;
    gate_.arrive_and_wait();
    gate_.arrive_and_wait();
    return best_;
  }

 private:
  void serve(std::size_t n) {
    stay_on(cores_[n]);
    while (true) {
      gate_.arrive_and_wait();
      {
        const AheadOfOthers ahead({});
        for (int run = 0; run < runs_; ++run) run_once(n);
      }
      gate_.arrive_and_wait();
    }
  }

  // Awake, because the barrier wakes its threads one after the other.
  void meet(std::atomic<std::size_t>& count, std::size_t round) const {
    count.fetch_add(1);
    while (count.load() < round * cores_.size()) {
    }
  }

  void run_once(std::size_t n) {
    const std::size_t round = rounds_.load() + 1;
    meet(begun_, round);
    const auto start = Clock::now();
    (*work_)(n);
    meet(ended_, round);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (n == 0) {
      best_ = std::min(best_, seconds);
      rounds_.store(round);
    }
    while (rounds_.load() < round) {
    }
  }

  std::vector<int> cores_;
  std::barrier<> gate_;
  const Work* work_ = nullptr;
  int runs_ = 0;
  double best_ = 0;
  std::atomic<std::size_t> rounds_ = 0, begun_ = 0, ended_ = 0;
};

// Independent sums: latency 4 times two units, with some to spare.
constexpr std::size_t kChains = 12;
constexpr long kSteps = 100'000;
constexpr std::size_t kWidest = 64;  // bytes of a vector
constexpr std::size_t kPage = 4096;

/// Loops of a core that has vectors of some size. The sums live in registers; what they hold is
/// written back so that nothing is optimised out.
struct Loops {
  std::size_t vector;                                        // its bytes
  void (*fma_steps)(float* sums, float factor, long steps);  // of kChains vectors
  long (*sum_of)(const char* bytes, std::size_t count);      // a multiple of 8 vectors, aligned
};

// One function for each size: of a template, or of a clone for another processor, GCC cuts vectors
// to the size that any processor has before it knows for which one it compiles. Attributes are no
// expressions, NOLINTBEGIN(bugprone-macro-parentheses)
#define GAUNTLET_LOOPS(name, attributes, bytes_of_vector)               \
  namespace name {                                                      \
  typedef float Floats __attribute__((vector_size(bytes_of_vector)));   \
  typedef long Words __attribute__((vector_size(bytes_of_vector)));     \
                                                                        \
  attributes void fma_steps(float* sums, float factor, long steps) {    \
    Floats chain[kChains];                                              \
    std::memcpy(chain, sums, sizeof chain);                             \
    for (long step = 0; step < steps; ++step)                           \
      for (Floats & lanes : chain) lanes = lanes * factor + factor;     \
    std::memcpy(sums, chain, sizeof chain);                             \
  }                                                                     \
                                                                        \
  attributes long sum_of(const char* bytes, std::size_t count) {        \
    constexpr std::size_t kSums = 8;                                    \
    const Words* words = reinterpret_cast<const Words*>(bytes);         \
    Words sums[kSums] = {};                                             \
    for (std::size_t at = 0; at < count / sizeof(Words); at += kSums)   \
      for (std::size_t i = 0; i < kSums; ++i) sums[i] += words[at + i]; \
    for (std::size_t i = 1; i < kSums; ++i) sums[0] += sums[i];         \
    return sums[0][0] + sums[0][sizeof(Words) / sizeof(long) - 1];      \
  }                                                                     \
                                                                        \
  constexpr Loops kLoops{bytes_of_vector, fma_steps, sum_of};           \
  }

// NOLINTEND(bugprone-macro-parentheses)
GAUNTLET_LOOPS(of_any, , 16)
#if defined(__x86_64__)
GAUNTLET_LOOPS(of_avx2, __attribute__((target("avx2,fma"))), 32)
GAUNTLET_LOOPS(of_avx512, __attribute__((target("avx512f"))), 64)
#endif

const Loops& widest_loops() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return of_avx512::kLoops;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return of_avx2::kLoops;
#endif
  return of_any::kLoops;
}

/// What one core works with: for good, and no fork of this process has it.
struct Bench {
  explicit Bench(std::size_t bytes) : from(pages(bytes)), to(pages(bytes)) {}

  /// Written once, so that they are the machine's and not all the same page of zeros.
  static char* pages(std::size_t bytes) {
    char* first = new (std::align_val_t(kPage)) char[bytes]();
    madvise(first, bytes, MADV_DONTFORK);  // without success a fork takes longer
    return first;
  }

  char* from;
  char* to;
  std::vector<float> sums = std::vector<float>(kWidest / sizeof(float) * kChains, 0.5f);
  volatile long sum = 0;
};

class Looks {
 public:
  Looks() {
    const std::size_t cache = this_machine().cache_bytes;
    const std::size_t cores = pool_.cores();
    stream_ = std::max(std::size_t{16} << 20, 2 * cache / cores) / kPage * kPage;
    cached_ = cache / 2 / cores / kPage * kPage;
    for (std::size_t n = 0; n < cores; ++n) benches_.push_back(std::make_unique<Bench>(stream_));
  }

  const Ceilings& look() {
    const Clock::time_point begin = Clock::now();
    raise(best_.read_gb_per_s, 1, stream_, 1, [this](std::size_t n) { read(n, stream_); });
    raise(best_.copy_gb_per_s, 1, stream_, 2,
          [this](std::size_t n) { std::memcpy(benches_[n]->to, benches_[n]->from, stream_); });
    if (cached_ > 0)
      raise(best_.cache_gb_per_s, 4, cached_, 1, [this](std::size_t n) { read(n, cached_); });
    raise(best_.fma_gflop_per_s, 2, loops_.vector / sizeof(float), 2.0 * kChains * kSteps,
          [this](std::size_t n) { loops_.fma_steps(benches_[n]->sums.data(), 0.999f, kSteps); });
    const Clock::time_point end = Clock::now();
    due_ = end + 10 * (end - begin);
    return best_;
  }

  const Ceilings& best() const { return best_; }
  bool is_due() const { return Clock::now() >= due_; }

 private:
  void read(std::size_t n, std::size_t bytes) {
    benches_[n]->sum = benches_[n]->sum + loops_.sum_of(benches_[n]->from, bytes);
  }

  void raise(double& best, int runs, std::size_t units, double times, const Pool::Work& work) {
    const double all = static_cast<double>(units * pool_.cores()) * times;
    best = std::max(best, all * 1e-9 / pool_.best_seconds(runs, work));
  }

  const Loops& loops_ = widest_loops();
  Pool pool_;
  std::size_t stream_ = 0;  // bytes of each core
  std::size_t cached_ = 0;
  std::vector<std::unique_ptr<Bench>> benches_;
  Ceilings best_;
  Clock::time_point due_;  // when the next look is not too soon
};

/// Those of this process: a fork has none of the threads. Never deleted, as these never end.
Looks& looks() {
  static std::mutex mutex;
  static Looks* looks = nullptr;
  static pid_t owner = 0;
  const std::lock_guard lock(mutex);
  if (const pid_t self = getpid(); owner != self) {
    looks = new Looks;
    looks->look();
    owner = self;
  }
  return *looks;
}

}  // namespace

const Ceilings& ceilings() {
  return looks().best();
}

const Ceilings& raise_ceilings() {
  return looks().look();
}

void raise_ceilings_now_and_then() {
  if (Looks& all = looks(); all.is_due()) all.look();
}

double least_ns(const LeastWork& work, double cache_bytes, const Ceilings& machine) {
  double bytes_ns = 0;
  if (work.bytes > 0) {
    const double cached = machine.cache_gb_per_s > 0 ? std::min(work.bytes, cache_bytes) : 0;
    const double crossing = (work.bytes - cached) / work.bytes;  // in equal parts
    const double read_ns = 1 / machine.read_gb_per_s;
    const double write_ns = std::max(0.0, 2 / machine.copy_gb_per_s - read_ns);
    bytes_ns = crossing * ((work.bytes - work.written) * read_ns + work.written * write_ns);
    if (cached > 0) bytes_ns += cached / std::max(machine.cache_gb_per_s, machine.read_gb_per_s);
  }
  return std::max(bytes_ns, work.flops > 0 ? work.flops / machine.fma_gflop_per_s : 0);
}

}  // namespace gauntlet
