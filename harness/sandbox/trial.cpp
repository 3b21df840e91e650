// SPDX-License-Identifier: Apache-2.0
#include "harness/sandbox/trial.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/sandbox/fd.h"

namespace gauntlet {

std::string failure_in_child(const std::function<const char*()>& act) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) broken_call("pipe");
  const Fd in(ends[0]);
  Fd out(ends[1]);
  const pid_t pid = fork();
  if (pid < 0) broken_call("fork");
  if (pid == 0) {
    errno = 0;
    const char* failed = act();
    const int error = errno;
    if (failed != nullptr && write(out.get(), failed, std::strlen(failed)) < 0) _exit(2);
    _exit(failed == nullptr ? 0 : error);
  }
  out.reset();
  std::array<char, 100> step{};
  const ssize_t told = read(in.get(), step.data(), step.size() - 1);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (told <= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  return fmt::format("{}: {}", step.data(), std::strerror(WEXITSTATUS(status)));
}

const std::string& OncePerUser::ask(const std::function<std::string()>& question) {
  const std::lock_guard lock(mutex_);
  const auto [entry, is_new] = known_.try_emplace(geteuid());
  if (is_new) entry->second = question();
  return entry->second;
}

}  // namespace gauntlet
