// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <dirent.h>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

#include "harness/sandbox/fd.h"
#include "harness/worker/threads_at_work.h"

namespace gauntlet {

/// One thread of a process, as the kernel tells it.
struct Task {
  pid_t id = 0;
  char state = '?';  // 'T': stopped; 'Z': ended, and it was the main one, while others go on
  int core = -1;     // on which it ran last

  /// Nothing will be written on its behalf until the process goes on.
  bool is_still() const { return state == 'T' || state == 't' || state == 'Z' || state == 'X'; }
};

/// The threads of a process, read through a descriptor that is opened while nobody may influence
/// whether that succeeds.
class ProcessTasks {
 public:
  /// Of no such process it has none.
  explicit ProcessTasks(pid_t pid);

  /// One system call. Threads that are ending count until nothing is left of them; 0 when the
  /// process is gone.
  std::size_t count() const;

  /// As many of them as can be seen, the main one first, some microseconds for each. A thread that
  /// ends meanwhile may hide others: only a list as long as an earlier count() has all.
  std::vector<Task> list();

  /// How much the first of them, `at_most` so many, work; some 10 us for each.
  std::vector<ThreadLook> looks(std::size_t at_most) const;

 private:
  struct Opened {
    pid_t id;
    Fd stat;
  };
  void add_new(std::vector<Task>& tasks);
  Fd open_of(pid_t id, const char* file) const;
  std::vector<pid_t> ids(std::size_t at_most) const;
  std::string text(pid_t id, const char* file) const;

  struct Close {
    void operator()(DIR* folder) const { closedir(folder); }
  };
  std::unique_ptr<DIR, Close> folder_;
  std::vector<Opened> opened_;  // of threads that the last list() had, in its order
};

}  // namespace gauntlet
