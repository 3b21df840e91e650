// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/awake_cores.h"

#include <ctime>
#include <latch>
#include <sched.h>

namespace gauntlet {
namespace {

bool give_way_on(int core) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(core, &only);
  const sched_param none{};
  return sched_setscheduler(0, SCHED_IDLE, &none) == 0 &&
         sched_setaffinity(0, sizeof only, &only) == 0;
}

// A thread that may not give way would compete with the contestants: it ends instead.
void stay_awake(const std::stop_token& stop, int core, std::atomic<int>& awake,
                std::latch& started) {
  const bool gives_way = give_way_on(core);
  awake += gives_way ? 1 : 0;
  started.count_down();
  while (gives_way && !stop.stop_requested()) {
  }
}

}  // namespace

AwakeCores::AwakeCores() {
  cpu_set_t ours;
  if (sched_getaffinity(0, sizeof ours, &ours) != 0) return;
  std::latch started(CPU_COUNT(&ours));
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &ours))
      threads_.emplace_back([this, core, &started](const std::stop_token& stop) {
        stay_awake(stop, core, awake_, started);
      });
  started.wait();
}

void AwakeCores::account() {
  for (std::jthread& thread : threads_) {
    clockid_t clock{};
    timespec spent{};
    if (pthread_getcpuclockid(thread.native_handle(), &clock) == 0) clock_gettime(clock, &spent);
  }
}

}  // namespace gauntlet
