// SPDX-License-Identifier: Apache-2.0
#include "harness/run/neighbour.h"

#include <csignal>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/core/error.h"
#include "harness/sandbox/launch.h"

namespace gauntlet {
namespace {

constexpr std::size_t kStream = std::size_t{64} << 20;

[[noreturn]] void compute() {
  volatile double number = 1;
  while (true) number = number * 0.999 + 0.5;
}

[[noreturn]] void stream(char* one, char* other) {
  while (true) {
    std::memcpy(one, other, kStream);
    std::memcpy(other, one, kStream);
  }
}

}  // namespace

std::string_view name_of(NeighbourKind kind) {
  switch (kind) {
    case NeighbourKind::none:
      return "alone";
    case NeighbourKind::computing:
      return "beside a computing program";
    case NeighbourKind::streaming:
      return "beside a program that streams memory";
  }
  return "";
}

// The child of a process with threads may not allocate: its memory is there before.
Neighbour::Neighbour(NeighbourKind kind) {
  if (kind == NeighbourKind::none) return;
  std::unique_ptr<char[]> memory;
  if (kind == NeighbourKind::streaming) memory = std::make_unique<char[]>(2 * kStream);
  const pid_t parent = getpid();
  const std::lock_guard no_other_fork(fork_mutex());
  pid_ = fork();
  if (pid_ < 0) throw Broken(OwnFault::kernel, "no process can be started to be a neighbour");
  if (pid_ > 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
  if (kind == NeighbourKind::computing) compute();
  stream(memory.get(), memory.get() + kStream);
}

Neighbour::~Neighbour() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

}  // namespace gauntlet
