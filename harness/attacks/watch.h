// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <sys/types.h>
#include <vector>

#include "harness/attacks/evidence.h"

namespace gauntlet {

/// Watches, through /proc, the processes that have given themselves a name.
class Watch {
 public:
  explicit Watch(std::string mark);

  /// One look; the evidence keeps the largest of everything.
  void look(pid_t grading_process, Evidence& evidence);

  /// Counts those that are alive when nobody should be, and ends them.
  void end_survivors(Evidence& evidence) const;

 private:
  std::vector<pid_t> marked() const;
  void look_at(pid_t pid, Evidence& evidence);

  std::string mark_;
  std::string first_namespace_;
  std::set<pid_t> strangers_;  // that were there before; each look reads the names of all others
  double shared_before_;
};

}  // namespace gauntlet
