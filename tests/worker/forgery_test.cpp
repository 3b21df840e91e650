// SPDX-License-Identifier: Apache-2.0
// The forgery that beats a judge who reads while the worker runs: "done" first, the work
// afterwards. 1,000 tries in a row, none of which may be right and quicker than honest work.

#include <algorithm>
#include <cmath>
#include <sys/mman.h>
#include <unistd.h>

#include "control_page.h"
#include "harness/worker/arenas.h"
#include "worker_fixture.h"

using namespace gauntlet;
using namespace gauntlet::test;

namespace {

constexpr std::size_t kCount = 1 << 16;
constexpr int kTries = 1000;
constexpr std::int64_t kHonest = 0, kForged = 1;

const char* const kForger = R"(
    if (args->mode == 1) {
      Found found;
      dl_iterate_phdr(search, &found);
      if (found.page == nullptr) return -1;
      found.page[17] = found.page[0];
      found.page[16] = found.page[16] + 1;
      syscall(SYS_futex, found.page + 16, FUTEX_WAKE, 1, nullptr, nullptr, 0);
    }
    for (int64_t i = 0; i < args->count; ++i) args->y[i] = std::sin(args->x[i]);
    return 0;
)";

bool right(const WorkCall& call) {
  const auto y = call.y.view();
  for (std::size_t i = 0; i < y.size(); ++i)
    if (!(std::fabs(y[i] - std::sin(call.data[i])) < 1e-3f)) return false;
  return true;
}

/// One call by a fresh worker.
void ask(const Solution& solution, WorkCall& call) {
  solution.session->restart();
  solution.session->run(call);
}

}  // namespace

TEST_CASE("1,000 forged answers, none of them both right and quick") {
  const Solution solution(work(kForger, std::string("#include <cmath>") + kFindControlPage));
  WorkCall call(kCount, kHonest);
  // Honest calls between the others: a machine that is busy for a while is so for both.
  auto honest = std::chrono::nanoseconds::max(), quickest = honest;
  int found = 0;
  for (int i = 0; i < kTries; ++i) {
    if (i % 50 < 3) {
      call.args.mode = kHonest;
      ask(solution, call);
      REQUIRE(right(call));
      honest = std::min(honest, call.elapsed);
    }
    call.args.mode = kForged;
    ask(solution, call);
    found += call.returned != -1;
    if (right(call)) quickest = std::min(quickest, call.elapsed);
  }
  CHECK(found == kTries);  // it did find the page every time
  CHECK(quickest >= honest / 2);
}

TEST_CASE("a process that could still write outputs is seen when its worker is gone") {
  Arenas arenas(wire::kPage);
  void* left = mmap(nullptr, wire::kPage, PROT_READ | PROT_WRITE, MAP_SHARED, arenas.out_fd(), 0);
  REQUIRE(left != MAP_FAILED);
  CHECK_FALSE(arenas.nobody_writes());
  munmap(left, wire::kPage);
  CHECK(arenas.nobody_writes());
  CHECK(write(arenas.out_fd(), "x", 1) < 0);
}
