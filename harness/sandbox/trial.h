// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <sys/types.h>

namespace gauntlet {

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
