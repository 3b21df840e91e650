// SPDX-License-Identifier: Apache-2.0
// What contestants of a race share: the pages of their arrays, and nothing that they wrote there.

#include <sched.h>

#include "callback_fixture.h"
#include "harness/worker/ahead_of_others.h"
#include "harness/worker/arenas.h"
#include "worker_fixture.h"

using namespace gauntlet;
using namespace gauntlet::test;

namespace {

constexpr std::size_t kElements = 5000;

// The answer of whoever went before, if it is there, is all that this one writes.
const char* const kCopycat = R"(
  int64_t found = 0;
  for (int64_t i = 0; i < args->count; ++i) found += args->y[i] == args->y[i];
  for (int64_t i = 0; i < args->count && args->mode == 0; ++i) args->y[i] = 2 * args->x[i];
  return found;
)";

const char* const kLookAround = R"(
    #include <sys/mman.h>
    // Bytes around y, whether they were to be seen or not, that are neither zeros, nor poison, nor
    // what surrounds outputs.
    static int64_t strange_bytes(const Args* args) {
      const uintptr_t page = (uintptr_t)args->y & ~(uintptr_t)4095;
      const uintptr_t last = (uintptr_t)(args->y + args->count + 1023) & ~(uintptr_t)4095;
      const unsigned char around[] = {0xFD, 0x7F, 0xFE, 0x7F};
      int64_t strange = 0;
      for (uintptr_t at = page - (1 << 16); at < last + (1 << 20); at += 4096) {
        if (mprotect((void*)at, 4096, PROT_READ | PROT_WRITE) != 0) continue;
        const unsigned char* bytes = (const unsigned char*)at;
        for (int i = 0; i < 4096; ++i)
          strange += bytes[i] != 0 && bytes[i] != 0xFF && bytes[i] != around[i % 4];
      }
      return strange;
    }
)";

/// Contestants on one ground, which they leave at the end.
struct Contest {
  RaceGround ground;
  std::vector<WorkerSession*> sessions;

  Contest(std::initializer_list<const Solution*> solutions) {
    for (const Solution* solution : solutions) {
      sessions.push_back(solution->session.get());
      sessions.back()->enter_race(ground);
    }
  }
  ~Contest() {
    for (WorkerSession* session : sessions) session->leave_race();
  }
};

}  // namespace

TEST_CASE("contestants use the same pages, and find nothing of each other's answers there") {
  const Solution first(work(kCopycat)), second(work(kCopycat));
  const Contest contest{&first, &second};
  const std::byte* place = nullptr;
  for (int round = 0; round < 3; ++round)
    for (WorkerSession* session : contest.sessions) {
      WorkCall call(kElements);
      session->run(call);
      CHECK(call.returned == 0);
      CHECK(call.y.view()[kElements - 1] == 2 * call.data[kElements - 1]);
      const std::byte* lies = call.buffer("y").result.data();
      if (place == nullptr) place = lies;
      CHECK(lies == place);
    }
}

TEST_CASE("nor do they find anything around their arrays, after calls of other sizes either") {
  const Solution honest(work(kCopycat));
  const Solution curious(work("return strange_bytes(args);", kLookAround));
  const Contest contest{&honest, &curious};
  for (const std::size_t count : {kElements, kElements, 7 * kElements, kElements}) {
    WorkCall call(count);
    contest.sessions[0]->run(call);
    WorkCall look(kElements);
    contest.sessions[1]->run(look);
    CHECK(look.returned == 0);
  }
}

// The mailbox of callbacks is as large as a quarter of an arena and ends 16 pages before the first
// output.
TEST_CASE("requests and replies of one contestant are gone before the next one runs") {
  Scaling first(R"(
    float numbers[1000], scaled[1000];
    for (float& number : numbers) number = 3;
    Request request = {1000, 1, numbers, scaled, 2, -1};
    return args->scale(args->context, &request);
  )");
  Scaling second(R"(
    const unsigned char* mailbox =
        (const unsigned char*)((uintptr_t)args->y & ~(uintptr_t)4095) - 16 * 4096 - (64 << 20);
    int64_t left = 0;
    for (int i = 0; i < 1 << 20; ++i) left += mailbox[i] != 0;
    return left;
  )");
  RaceGround ground;
  first.session.enter_race(ground);
  second.session.enter_race(ground);
  for (int round = 0; round < 2; ++round) {
    first.session.run(first.call);
    CHECK(first.call.returned == 1000 * 100 + 1);
    second.session.run(second.call);
    CHECK(second.call.returned == 0);
  }
  first.session.leave_race();
  second.session.leave_race();
}

TEST_CASE("a contestant that starts again, or leaves, does not disturb the others") {
  const Solution first(work(kCopycat)), second(work(kCopycat));
  {
    const Contest contest{&first, &second};
    for (int round = 0; round < 3; ++round) {
      for (WorkerSession* session : contest.sessions) {
        WorkCall call(kElements);
        session->run(call);
        CHECK(call.returned == 0);
      }
      contest.sessions[0]->restart();
    }
    contest.sessions[0]->leave_race();
    WorkCall call(kElements);
    contest.sessions[1]->run(call);
    CHECK(call.returned == 0);
  }
  WorkCall mine(kElements), other(kElements);
  first.session->run(mine);
  second.session->run(other);
  CHECK(mine.buffer("y").result.data() != other.buffer("y").result.data());
}

TEST_CASE("whoever can still write when a race is over has cheated") {
  const Solution solution(work(kCopycat));
  RaceGround ground;
  solution.session->enter_race(ground);
  WorkCall call(kElements);
  solution.session->run(call);
  {
    RaceGround same = ground;
    CHECK_THROWS_AS(same.close(), SolutionFailure);
  }
  solution.session->leave_race();
}

TEST_CASE("contestants come before other programs, where that is allowed, but not for long") {
  const Solution solution(work(R"(
    timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 <
           args->mode);
    return sched_getscheduler(0);
  )",
                               "#include <sched.h>\n#include <time.h>"));
  const int ahead = AheadOfOthers::allowed() ? SCHED_RR : SCHED_OTHER;
  {
    const Contest contest{&solution};
    for (int round = 0; round < 2; ++round) {
      WorkCall brief(10, 0);
      solution.session->run(brief);
      CHECK(brief.returned == ahead);
      CHECK(sched_getscheduler(0) == SCHED_OTHER);
      WorkCall lasting(10, 150);
      solution.session->run(lasting);
      CHECK(lasting.returned == SCHED_OTHER);
    }
  }
  WorkCall outside(10, 0);
  solution.session->run(outside);
  CHECK(outside.returned == SCHED_OTHER);
}
