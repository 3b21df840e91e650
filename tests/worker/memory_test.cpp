// Peak memory, as the parent counts it.

#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>

#include "worker_fixture.h"

using namespace gauntlet;
using namespace gauntlet::test;

namespace {

constexpr std::int64_t kMib = std::int64_t{1} << 20;
// The kernel adds up resident pages for each core on its own and shares a count when it reaches
// max(32, 2 * cores) pages (percpu_counter); resident memory is the sum of three such counters.
const std::int64_t kCores = sysconf(_SC_NPROCESSORS_CONF);
const std::int64_t kExact = 3 * kCores * std::max<std::int64_t>(32, 2 * kCores) * 4096;

const char* const kHeaders =
    "#include <stdlib.h>\n#include <string.h>\n#include <thread>\n"
    "#include <vector>\n#include <omp.h>";

std::int64_t peak_of(WorkerSession& session, WorkCall& call) {
  call.measure_memory = true;
  session.run(call);
  REQUIRE(call.peak_bytes.has_value());
  return *call.peak_bytes;
}

std::int64_t peak_of(const std::string& body, const std::string& before = "") {
  const Solution solution(work(body, std::string(kHeaders) + "\n" + before));
  WorkCall call(std::size_t{4} << 20);  // 16 MiB in, 16 MiB out: must not count
  return peak_of(*solution.session, call);
}

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

TEST_CASE("dropping shared pages at the peak does not hide memory of one's own") {
  // 16 MiB of inputs are unmapped while 16 MiB of scratch are in use.
  const std::int64_t peak = peak_of(R"(
    madvise((void*)(((uintptr_t)args->x + 4095) & ~(uintptr_t)4095), 15 << 20, MADV_DONTNEED);
    std::vector<char> much(15 << 20, 1);
    usleep(20000);
    return much[9];
  )",
                                    "#include <sys/mman.h>\n#include <unistd.h>");
  CHECK(peak >= 15 * kMib - kExact);
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
