// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/held_up.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace gauntlet {
namespace {

// Every call asks some ten times, and the kernel writes its counts as text.
constexpr auto kGood = std::chrono::microseconds(50);

RunTimes read_from(int file) {
  std::array<char, 128> text{};
  if (file < 0 || pread(file, text.data(), text.size() - 1, 0) <= 0) return {};
  return parsed_run_times(text.data());
}

}  // namespace

RunTimes parsed_run_times(const std::string& schedstat) {
  long long ran = 0, waited = 0;
  if (std::sscanf(schedstat.c_str(), "%lld %lld", &ran, &waited) != 2) return {};
  return {std::chrono::nanoseconds(ran), std::chrono::nanoseconds(waited)};
}

MainThreadTimes::MainThreadTimes(pid_t pid)
    : file_(open(fmt::format("/proc/{}/schedstat", pid).c_str(), O_RDONLY | O_CLOEXEC)) {}

RunTimes MainThreadTimes::now() const {
  return read_from(file_.get());
}

RunTimes own_run_times() {
  using Clock = std::chrono::steady_clock;
  thread_local const Fd file(open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC));
  thread_local RunTimes last;
  thread_local Clock::time_point until{};
  if (Clock::now() < until) return last;
  last = read_from(file.get());
  until = Clock::now() + kGood;
  return last;
}

std::chrono::nanoseconds held_up(std::chrono::nanoseconds waited, std::chrono::nanoseconds beside) {
  return std::max(std::chrono::nanoseconds(), waited - beside);
}

}  // namespace gauntlet
