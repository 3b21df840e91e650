// SPDX-License-Identifier: Apache-2.0
// That a stopped worker is stopped: threads that are ending take no part in the stop that the
// kernel confirms, and it still writes to memory on their behalf.

#include <chrono>
#include <cstring>
#include <thread>

#include "worker_fixture.h"

using namespace gauntlet;
using namespace gauntlet::test;

namespace {

// A thread whose list of locks, which the kernel walks when the thread ends, lies in the output:
// every lock on it is marked as left behind by its dead owner.
const char* const kLateLocks = R"(
  #include <atomic>
  #include <linux/futex.h>
  #include <pthread.h>
  #include <sys/syscall.h>
  #include <unistd.h>
  constexpr long kLocks = 2000;
  static void hold_locks(robust_list_head* head) {
    struct Lock { robust_list list; uint64_t word; };
    Lock* locks = (Lock*)(head + 1);
    const uint32_t owner = (uint32_t)syscall(SYS_gettid);
    for (long i = 0; i < kLocks; ++i) {
      locks[i].word = owner;
      locks[i].list.next = i + 1 < kLocks ? &locks[i + 1].list : &head->list;
    }
    head->futex_offset = offsetof(Lock, word);
    head->list_op_pending = nullptr;
    head->list.next = &locks[0].list;
    syscall(SYS_set_robust_list, head, sizeof *head);
  }
  static std::atomic<bool> ends;
  static void* end_slowly(void* output) {
    hold_locks((robust_list_head*)output);
    ends = true;
    syscall(SYS_exit, 0);  // by itself: libc would take its time
    return nullptr;
  }
)";

/// How many answers changed after they were handed over, of so many calls.
int changed_answers(int calls) {
  const Solution solution(work(R"(
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    pthread_t thread;
    ends = false;
    if (pthread_create(&thread, &small, end_slowly, args->y) != 0) return 1;
    while (!ends) {}
    for (volatile int64_t i = 0; i < args->mode; i = i + 1) {}
    return 0;
  )",
                               kLateLocks));
  int changed = 0;
  for (int i = 0; i < calls; ++i) {
    WorkCall call(16384, std::int64_t{100} * (i % 50), {64, 0});
    solution.session->run(call);
    REQUIRE(call.returned == 0);
    const std::vector<float> first = call.y.copy();
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    changed += std::memcmp(first.data(), call.y.copy().data(), first.size() * sizeof(float)) != 0;
  }
  return changed;
}

}  // namespace

TEST_CASE("an answer does not change once it is read, not even by threads that are ending") {
  CHECK(changed_answers(400) == 0);  // without the look at every thread: some 110
}
