// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <string_view>
#include <unistd.h>
#include <utility>

#include "harness/core/error.h"

namespace gauntlet {

/// Owns a file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

/// Throws Broken "<what>: <strerror(errno)>": for kernel calls that fail only when we are at fault.
[[noreturn]] inline void broken_call(std::string_view what) {
  throw Broken(own_fault_of_errno(errno), fmt::format("{}: {}", what, std::strerror(errno)));
}

}  // namespace gauntlet
