// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness/sandbox/fd.h"
#include "harness/sandbox/limits.h"

namespace gauntlet {

/// A control group for the processes of one command: bounds what all of them take together, where
/// the kernel's limits count each by itself, and ends all at once. A further wall, where we may
/// make groups below our own.
class ControlGroup {
 public:
  /// Null where none can be made.
  static std::unique_ptr<ControlGroup> make(const Limits& limits);

  ~ControlGroup();  // all its processes must have been reaped
  ControlGroup(const ControlGroup&) = delete;
  ControlGroup& operator=(const ControlGroup&) = delete;

  /// The calling process and its later children belong to it. Async-signal-safe. Null, or the step
  /// that failed with errno.
  const char* join() const;

  void kill_all() const;

  /// True when the kernel ended a process because all together took too much memory.
  bool ran_out_of_memory() const;

  /// "memory, processes and kill": what it can do here.
  std::string powers() const;

 private:
  struct Part {
    std::filesystem::path folder;
    Fd door;
  };

  friend const std::string& why_no_control_group();

  ControlGroup() = default;
  static std::unique_ptr<ControlGroup> made();
  bool add_part(const std::filesystem::path& folder);
  bool set(const char* file, const std::string& value) const;

  std::vector<Part> parts_;  // version 2: one; version 1: one for each controller
};

/// Empty when a child was seen to join a control group of ours here, else why not. Tried once a
/// process and user.
const std::string& why_no_control_group();

}  // namespace gauntlet
