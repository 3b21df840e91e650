// SPDX-License-Identifier: Apache-2.0
#include "harness/sandbox/output_pipe.h"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <vector>

namespace gauntlet {

OutputPipe::OutputPipe(std::size_t keep) : keep_(keep) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) broken_call("pipe");
  out_ = Fd(ends[0]);
  in_ = Fd(ends[1]);
  // Only our end: a child that finds its stdout non-blocking would see EAGAIN.
  if (fcntl(out_.get(), F_SETFL, O_NONBLOCK) != 0) broken_call("making a pipe non-blocking");
  // A larger pipe means fewer waits for us; an unprivileged user may not get it, and need not.
  fcntl(out_.get(), F_SETPIPE_SZ, 1 << 20);
}

bool OutputPipe::drain() {
  std::array<char, 65536> piece;
  for (int pieces = 0; pieces < 64; ++pieces) {
    const ssize_t got = read(out_.get(), piece.data(), piece.size());
    if (got == 0) return false;
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    const auto bytes = static_cast<std::size_t>(got);
    printed_ += bytes;
    kept_.append(piece.data(), std::min(bytes, keep_ - std::min(keep_, kept_.size())));
  }
  return true;
}

}  // namespace gauntlet
