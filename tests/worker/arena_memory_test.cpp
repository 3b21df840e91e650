// SPDX-License-Identifier: Apache-2.0
// Memory of one's own inside what the harness shares with a solution, or hidden behind it: it
// counts, and nothing of an earlier call is left there.

#include <fmt/format.h>

#include "counted_memory.h"
#include "harness/worker/output_check.h"

using namespace gauntlet;
using namespace gauntlet::test;

namespace {

const char* const kMapping = R"(
    #include <dlfcn.h>
    #include <errno.h>
    #include <fcntl.h>
    #include <initializer_list>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/mman.h>
    #include <unistd.h>
    static const size_t kScratch = 15 << 20;
    static char* whole_page(const volatile void* at) {
      return (char*)(((uintptr_t)at + 4095) & ~(uintptr_t)4095);
    }
    static void touch(volatile char* at, size_t bytes, char value) {
      for (size_t i = 0; i < bytes; i += 4096) at[i] = value;
    }
    static void look_at(const volatile char* at, size_t bytes) {
      for (size_t i = 0; i < bytes; i += 4096) (void)at[i];
    }
    // Too short for somebody who looks every few milliseconds.
    static void use_scratch(size_t bytes = kScratch) {
      const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;
      munmap(mmap(0, bytes, PROT_READ | PROT_WRITE, flags, -1, 0), bytes);
    }
)";

constexpr std::size_t kFloats = std::size_t{4} << 20;  // 16 MiB in, 16 MiB out

/// What gives pages of an address range back or puts others in their place, done to 15 MiB of
/// inputs at `page`. True when it worked.
const char* const kDrops[] = {
    "madvise(page, kScratch, MADV_DONTNEED) == 0",
    "madvise(page, kScratch, MADV_REMOVE) == 0",
    "madvise(page, kScratch, MADV_DONTNEED_LOCKED) == 0",
    "madvise(page, kScratch, 25 /* MADV_COLLAPSE */) == 0",
    "madvise((void*)((uintptr_t)page | 1ul << 60), kScratch, MADV_DONTNEED) == 0",
    "munmap(page, kScratch) == 0",
    "munmap((void*)(1ul << 44), (uintptr_t)page + kScratch - (1ul << 44)) == 0",
    "mmap(0, (uintptr_t)page + kScratch, PROT_READ, kOwn | MAP_FIXED, -1, 0) == 0",
    "mmap(page, kScratch, PROT_READ, kOwn | MAP_FIXED, -1, 0) == page",
    "mremap(page, kScratch, 4096, 0) == page",
    "mremap(page, 0, kScratch, MREMAP_MAYMOVE) != MAP_FAILED",
    "mremap(page, kScratch, kScratch, MREMAP_MAYMOVE | MREMAP_FIXED, own) == own",
    "mremap(own, kScratch, kScratch, MREMAP_MAYMOVE | MREMAP_FIXED, page) == page",
};

const char* const kOwnMemory = R"(
    const int kOwn = MAP_PRIVATE | MAP_ANONYMOUS;
    char* own = (char*)mmap(0, kScratch, PROT_READ | PROT_WRITE, kOwn, -1, 0);
    errno = 0;
)";

}  // namespace

TEST_CASE("no page of an arena is given back, moved or replaced") {
  std::string body = std::string(kOwnMemory) +
                     "char* page = whole_page(args->x);\nbool worked = false;\n"
                     "switch (args->mode) {\n";
  for (std::size_t i = 0; i < std::size(kDrops); ++i)
    body += fmt::format("case {}: worked = {}; break;\n", i, kDrops[i]);
  const Solution solution(work(body + R"(}
    if (worked || errno != EPERM) return 1;
    use_scratch();
    return 0;
  )",
                               kMapping));
  for (std::size_t i = 0; i < std::size(kDrops); ++i) {
    WorkCall call(kFloats, static_cast<std::int64_t>(i));
    call.measure_memory = true;
    CHECK_MESSAGE(ending_of(*solution.session, call).verdict == Verdict::passed, kDrops[i]);
    CHECK_MESSAGE(call.returned == 0, kDrops[i]);
    CHECK_MESSAGE(call.peak_bytes.value_or(0) >= 15 * kMib - kExact, kDrops[i]);
    solution.session->restart();
  }
}

TEST_CASE("a solution does what it likes with its own memory") {
  const Solution solution(work(std::string(kOwnMemory) + R"(
    int failed = 0;
    for (const int advice : {0, 1, 2, 3, 4, 8, 10, 11, 14, 15, 16, 17, 18, 19, 22, 23, 24, 25})
      failed += madvise(own, kScratch, advice) != 0 && errno == EPERM;
    char* more = (char*)mremap(own, kScratch, 2 * kScratch, MREMAP_MAYMOVE);
    failed += more == MAP_FAILED;
    failed += mmap(more, 4096, PROT_READ, kOwn | MAP_FIXED, -1, 0) != more;
    failed += munmap(more, 2 * kScratch) != 0;
    // Gaps between libraries are closed: a small piece would lie in one, among what stays.
    void* page = mmap(0, 4096, PROT_READ, kOwn, -1, 0);
    failed += munmap(page, 4096) != 0;
    return failed;
  )",
                               kMapping));
  WorkCall call(4);
  solution.session->run(call);
  CHECK(call.returned == 0);
}

TEST_CASE("scratch between the outputs counts, however it is tidied up") {
  // Inputs that were read already make room for it, if that can be had.
  const std::int64_t peak = peak_of(R"(
    char* gap = whole_page(args->y + args->count);
    mprotect(gap, kScratch, PROT_READ | PROT_WRITE);
    madvise(whole_page(args->x), kScratch, MADV_DONTNEED);
    touch(gap, kScratch, 1);
    if (madvise(gap, kScratch, MADV_REMOVE) != 0) touch(gap, kScratch, 0);
    mprotect(gap, kScratch, PROT_NONE);
    look_at(whole_page(args->x), kScratch);
    return 0;
  )",
                                    kMapping);
  CHECK(peak >= 15 * kMib - kExact);
}

TEST_CASE("scratch between the outputs that was opened before the call counts") {
  const Solution solution(work(R"(
    char* gap = whole_page(args->y + args->count);
    mprotect(gap, kScratch, PROT_READ | PROT_WRITE);
    touch(gap, kScratch, 1);
    touch(gap, kScratch, 0);
    return 0;
  )",
                               kMapping));
  WorkCall call(kFloats);
  solution.session->run(call);
  CHECK(peak_of(*solution.session, call) >= 15 * kMib - kExact);
}

TEST_CASE("inputs of an earlier call are gone") {
  const Solution solution(work(R"(
    static char* x = nullptr;
    if (args->mode == 0) {
      x = whole_page(args->x) + (1 << 20);  // further than the next call's inputs reach
      return ((float*)x)[5] != 0;
    }
    mprotect(x, 8 << 20, PROT_READ);
    int64_t left = 0;
    for (size_t i = 0; i < 8 << 20; ++i) left += x[i] != 0;
    return left;
  )",
                               kMapping));
  WorkCall first(kFloats, 0), second(1024, 1);
  solution.session->run(first);
  CHECK(first.returned == 1);
  solution.session->run(second);
  CHECK(second.returned == 0);
}

TEST_CASE(
    "arrays that lie where the last call's did stay open, all behind them is shut and empty") {
  const Solution solution(work(R"(
    static char* behind = nullptr;
    const char poison = (char)args->mode;
    for (int64_t i = 0; i < args->count; ++i)
      if (((char*)args->y)[4 * i + 3] != poison) return 1;
    args->y[5] = 1;
    if (behind == nullptr) {
      behind = (char*)args->z + (64 << 10);
      for (int i = 0; i < 4096; ++i)
        if (behind[i] != poison) return 2;
      memset(behind, 1, 4096);
      return 0;
    }
    if (write(1, behind, 1) != -1 || errno != EFAULT) return 3;
    if (mprotect(whole_page(behind), 4096, PROT_READ) != 0) return 4;
    for (int i = 0; i < 4096; ++i)
      if (whole_page(behind)[i] != 0) return 5;
    behind = nullptr;
    return 0;
  )",
                               kMapping));
  struct TwoOutputs : WorkCall {
    explicit TwoOutputs(std::size_t behind) : WorkCall(2048, kPoison) {
      if (behind > 0) out<float>("z", args.z, behind);
    }
  };
  for (const std::size_t behind : {40'000, 256, 40'000, 0, 40'000}) {
    TwoOutputs call(behind);
    solution.session->run(call);
    CHECK(call.returned == 0);
    CHECK(call.y.view()[5] == 1);
  }
}
