// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/inside/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gauntlet::inside {

void wait_for_change(wire::Word& word, std::uint32_t value) {
  while (word.load(std::memory_order_acquire) == value)
    syscall(SYS_futex, &word, FUTEX_WAIT, value, nullptr, nullptr, 0);
}

void ring(wire::Control& control) {
  control.bell.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, &control.bell, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

}  // namespace gauntlet::inside
