// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <sys/types.h>

#include "harness/sandbox/fd.h"

namespace gauntlet {

/// A fork of this process that does one thing and says what came of it. Ends with us, or with this
/// object.
class ForkedTask {
 public:
  explicit ForkedTask(const std::function<std::string()>& act);
  ForkedTask(ForkedTask&& other) noexcept;
  ~ForkedTask();

  /// Waits for the text that `act` returned. Throws Broken with the words of what it threw.
  std::string result();

  /// To be called by an act that changes its user: the kernel then forgets whom it ends with.
  static void end_with_parent();

 private:
  void reap();

  Fd in_;
  pid_t pid_ = -1;
};

}  // namespace gauntlet
