// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/sandbox/path_rule.h"

namespace gauntlet {

/// A worker needs it: a library is loaded by way of /proc/self/fd. A compiler does not, and a
/// source could ask through it which process and which step of a build reads it.
enum class Proc { shown, hidden };

/// What a process with a mount namespace of its own sees of the machine's files: the paths that its
/// Landlock rules name, read-only but for its work folder, and nothing else. A second wall behind
/// Landlock, which lets pass who reaches through /proc for what he may read anyway.
class FileView {
 public:
  /// Everything is laid out here: between fork and exec nothing may be allocated. Paths that do not
  /// exist are left out.
  explicit FileView(std::vector<PathRule> rules, Proc proc = Proc::shown);

  /// Makes the view the calling process's root, and its work folder or "/" the current one. Needs a
  /// mount namespace of its own and the right to mount there. Async-signal-safe. Null, or the step
  /// that failed with errno.
  const char* enter() const;

 private:
  struct Entry {
    std::string path;    // "/usr/lib"
    std::string target;  // of a symbolic link; empty for what is mounted
    bool is_folder = false;
    bool writable = false;
  };

  void add_parents(const std::string& path);
  const char* mount_all() const;

  std::vector<std::string> parents_;  // folders on the way to the entries, upper ones first
  std::vector<Entry> entries_;
  std::string work_folder_ = "/";
};

/// Empty when a view was seen to hide /etc/passwd here, else why not. Tried once a process and
/// user.
const std::string& why_no_file_view();

}  // namespace gauntlet
