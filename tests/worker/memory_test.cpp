// SPDX-License-Identifier: Apache-2.0
// Peak memory, as the parent counts it.

#include <fmt/format.h>

#include "counted_memory.h"

using namespace gauntlet;
using namespace gauntlet::test;

namespace {

const char* const kTouchAll = "for (int64_t i = 0; i < args->count; ++i) args->y[i] = args->x[i];";

}  // namespace

TEST_CASE("memory is not measured unless it is asked for") {
  const Solution solution(work("return 0;"));
  WorkCall call(4);
  solution.session->run(call);
  CHECK_FALSE(call.peak_bytes.has_value());
}

TEST_CASE("the arenas and an idle solution count as nothing") {
  CHECK(peak_of(std::string(kTouchAll) + "return 0;") < kExact);
}

TEST_CASE("pages that stay where larger calls had their arrays do not count") {
  const Solution solution(work("return 0;"));
  std::int64_t least = kMib;  // of several: the kernel's counts are not exact, see kExact
  for (int turn = 0; turn < 5; ++turn) {
    WorkCall large(60'000);  // 240 KB in, 240 KB out: as few pages as are zeroed and stay
    solution.session->run(large);
    WorkCall small(4);
    least = std::min(least, peak_of(*solution.session, small));
  }
  CHECK(least < 64 << 10);
}

TEST_CASE("memory that is taken, used and given back within the call counts") {
  const std::int64_t peak = peak_of(std::string(kTouchAll) + R"(
    char* much = (char*)malloc(64 << 20);
    memset(much, 1, 64 << 20);
    const int seen = much[args->count];
    free(much);
    return seen;
  )");
  CHECK(peak >= 64 * kMib - kExact);
  CHECK(peak < 64 * kMib + kExact);
}

TEST_CASE("memory that is only reserved does not count") {
  CHECK(peak_of("char* much = (char*)malloc(300 << 20); much[5] = 1; return much[5];") < kExact);
}

TEST_CASE("memory that a constructor took before the first call counts") {
  const std::int64_t peak =
      peak_of("return held[args->count];", "static std::vector<char> held(64 << 20, 1);");
  CHECK(peak >= 64 * kMib - kExact);
  CHECK(peak < 64 * kMib + kExact);
}

TEST_CASE("memory of all threads counts, and their unused stacks do not") {
  const std::int64_t peak = peak_of(R"(
    std::vector<std::thread> threads;
    std::vector<char*> kept(8);
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&, t] {
        kept[t] = (char*)malloc(4 << 20);
        memset(kept[t], 1, 4 << 20);
      });
    for (auto& thread : threads) thread.join();
    return kept[3][7];
  )");
  CHECK(peak >= 32 * kMib - kExact);
  CHECK(peak < 32 * kMib + 2 * kExact);  // eight threads: their stacks and malloc's arenas
}

TEST_CASE("the peak is that of the call, not of an earlier one") {
  const Solution solution(work(R"(
    if (args->mode == 0) return 0;
    std::vector<char> much(args->mode << 20, 1);
    return much[9];
  )",
                               kHeaders));
  WorkCall large(1024, 100), small(1024, 10);
  const std::int64_t first = peak_of(*solution.session, large);
  const std::int64_t second = peak_of(*solution.session, small);
  CHECK(first >= 100 * kMib - kExact);
  CHECK(second >= 10 * kMib - kExact);
  CHECK(second < 10 * kMib + kExact);
}

TEST_CASE("a name that reads like a line of numbers hides no memory") {
  for (const std::string name :
       {"VmHWM:0", "x\\nVmHWM:\\t0", "RssFile:99999", "RssShmem:9999\\n"}) {
    // Too short for a look at it meanwhile: the kernel's own peak has to tell.
    const std::int64_t peak = peak_of(fmt::format(R"(
      prctl(PR_SET_NAME, "{}");
      volatile char* much = (volatile char*)malloc(8 << 20);
      for (int64_t i = 0; i < 8 << 20; i += 4096) much[i] = 1;
      free((void*)much);
      return 0;
    )",
                                                  name),
                                      "#include <sys/prctl.h>");
    CHECK_MESSAGE(peak >= 8 * kMib - kExact, name);
    CHECK_MESSAGE(peak < 8 * kMib + kExact, name);
  }
}

TEST_CASE("pages that no count or limit of memory has are refused: huge ones, stacks that grow") {
  const Ending end =
      ending_of(R"(
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB;
    for (const int size : {0, 21 << MAP_HUGE_SHIFT, 30 << MAP_HUGE_SHIFT})
      if (mmap(0, 2 << 20, PROT_READ | PROT_WRITE, flags | size, -1, 0) != MAP_FAILED ||
          errno != EPERM)
        abort();
    const int growing = MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN;
    if (mmap(0, 2 << 20, PROT_READ | PROT_WRITE, growing, -1, 0) != MAP_FAILED || errno != EPERM)
      abort();
    if (memfd_create("huge", MFD_HUGETLB) >= 0 || errno != EPERM) abort();
    return 0;
  )",
                "#include <errno.h>\n#include <initializer_list>\n#include <stdlib.h>\n"
                "#include <sys/mman.h>");
  CHECK_MESSAGE(end.verdict == Verdict::passed, end.text);
}

TEST_CASE("when the machine has no more memory, its kernel ends the worker before us") {
  Solution solution(work(R"(
    int score = 0;
    FILE* file = fopen("/proc/self/oom_score_adj", "r");
    return file != nullptr && fscanf(file, "%d", &score) == 1 ? score : -1;
  )",
                         "#include <stdio.h>"));
  solution.config.walls.landlock = false;  // nothing else lets it read its own score
  solution.open();
  WorkCall call(4);
  solution.session->run(call);
  CHECK(call.returned == 1000);
}

TEST_CASE("page tables of memory that is only read are bounded like other memory") {
  // A page of tables for every 2 MiB that a byte of was read, up to 1 GiB of them.
  Solution solution(work(R"(
    const size_t much = (size_t)512 << 30;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    volatile char* space = (volatile char*)mmap(0, much, PROT_READ, flags, -1, 0);
    if (space == MAP_FAILED) abort();
    madvise((void*)space, much, MADV_NOHUGEPAGE);
    int64_t sum = 0;
    for (size_t at = 0; at < much; at += 2 << 20) sum += space[at];
    return sum;
  )",
                         "#include <stdlib.h>\n#include <sys/mman.h>"));
  solution.config.memory_bytes = std::size_t{64} << 20;
  solution.open();
  WorkCall call(4);
  const Ending end = ending_of(*solution.session, call);
  CHECK(end.verdict == Verdict::over_memory);
}

TEST_CASE("what malloc has in use behind a call is told where it is asked for") {
  const Solution solution(work(R"(
    static void* kept;
    void* scratch = malloc(5000);
    __asm__ volatile("" ::"r"(scratch) : "memory");
    free(scratch);
    if (args->mode > 0) kept = malloc(static_cast<size_t>(args->mode));
    __asm__ volatile("" ::"r"(kept) : "memory");
    return 0;
  )",
                               "#include <stdlib.h>"));
  const auto in_use = [&](std::int64_t mode) {
    WorkCall call(4, mode);
    call.measure_heap = true;
    solution.session->run(call);
    return call.heap_bytes.value_or(0);
  };
  const std::int64_t first = in_use(0);
  CHECK(first > 0);
  CHECK(in_use(0) == first);
  CHECK(in_use(24) == first + 32);              // with what malloc needs itself
  CHECK(in_use(1 << 20) >= first + (1 << 20));  // a mapping of its own
  WorkCall unasked(4);
  solution.session->run(unasked);
  CHECK_FALSE(unasked.heap_bytes.has_value());
}

TEST_CASE("of many threads nothing is told of malloc") {
  const Solution solution(work(R"(
    #pragma omp parallel num_threads(9)
    __asm__ volatile("" ::: "memory");
    return 0;
  )"));
  WorkCall call(4);
  call.measure_heap = true;
  solution.session->run(call);
  CHECK_FALSE(call.heap_bytes.has_value());
}
