// SPDX-License-Identifier: Apache-2.0
#include "harness/attacks/forked_task.h"

#include <array>
#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <utility>

#include "harness/core/error.h"

namespace gauntlet {
namespace {

std::string all_of(int in) {
  std::string text;
  std::array<char, 4096> bytes;
  while (true) {
    const ssize_t got = read(in, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(bytes.data(), static_cast<std::size_t>(got));
  }
}

void send_all(int out, const std::string& text) {
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t n = write(out, text.data() + sent, text.size() - sent);
    if (n < 0 && errno != EINTR) return;
    if (n > 0) sent += static_cast<std::size_t>(n);
  }
}

}  // namespace

ForkedTask::ForkedTask(const std::function<std::string()>& act) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) broken_call("pipe");
  in_ = Fd(ends[0]);
  const Fd out(ends[1]);
  pid_ = fork();
  if (pid_ < 0) broken_call("fork");
  if (pid_ != 0) return;
  try {
    end_with_parent();
    send_all(out.get(), "+" + act());
  } catch (const std::exception& error) {
    send_all(out.get(), std::string("-") + error.what());
  }
  _exit(EXIT_SUCCESS);
}

ForkedTask::ForkedTask(ForkedTask&& other) noexcept
    : in_(std::move(other.in_)), pid_(std::exchange(other.pid_, -1)) {}

ForkedTask::~ForkedTask() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  reap();
}

void ForkedTask::end_with_parent() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

std::string ForkedTask::result() {
  const std::string text = all_of(in_.get());
  reap();
  if (text.starts_with("+")) return text.substr(1);
  throw Broken(OwnFault::interrupted,
               text.empty() ? "the process of a forked task died" : text.substr(1));
}

void ForkedTask::reap() {
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

}  // namespace gauntlet
