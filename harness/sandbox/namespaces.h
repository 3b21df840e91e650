#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <sys/types.h>

namespace gauntlet {

class FileView;

/// Moves the calling process into new network, IPC and host-name namespaces, and its later children
/// into a new process namespace; an ordinary user needs a user namespace for that, in which he has
/// his own number and no other. With `files` also into a mount namespace in which there is nothing
/// else. Async-signal-safe. Null, or the step that failed with errno.
const char* enter_namespaces(const FileView* files);

/// Process 1 of a new process namespace: does nothing until it is killed, which ends all others in
/// it. It is a fork of ours: it keeps no descriptor, and its memory is closed to everybody.
[[noreturn]] void keep_namespace();

/// Empty when namespaces were seen to work here, else why not. Tried once a process and user.
const std::string& why_no_namespaces();

/// Does it in a child: empty when it returned null there, else the step that it named and what
/// errno said. It may only make system calls.
std::string failure_in_child(const std::function<const char*()>& act);

/// What was found out once, for each user that this process and its forks have been.
class OncePerUser {
 public:
  const std::string& ask(const std::function<std::string()>& question);

 private:
  std::mutex mutex_;
  std::map<uid_t, std::string> known_;
};

}  // namespace gauntlet
