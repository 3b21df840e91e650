// SPDX-License-Identifier: Apache-2.0
#include "harness/core/hold_interrupts.h"

namespace gauntlet {

sigset_t interrupts() {
  sigset_t both;
  sigemptyset(&both);
  sigaddset(&both, SIGINT);
  sigaddset(&both, SIGTERM);
  return both;
}

HoldInterrupts::HoldInterrupts() {
  const sigset_t held = interrupts();
  sigprocmask(SIG_BLOCK, &held, &before_);
}

HoldInterrupts::~HoldInterrupts() {
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace gauntlet
