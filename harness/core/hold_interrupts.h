// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

namespace gauntlet {

/// Ctrl-C and SIGTERM.
sigset_t interrupts();

/// Holds them back while files are being written that belong together.
class HoldInterrupts {
 public:
  HoldInterrupts();
  ~HoldInterrupts();
  HoldInterrupts(const HoldInterrupts&) = delete;
  HoldInterrupts& operator=(const HoldInterrupts&) = delete;

 private:
  sigset_t before_;
};

}  // namespace gauntlet
