// SPDX-License-Identifier: Apache-2.0
#include "harness/core/file_lock.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "harness/core/error.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

int open_to_lock(const fs::path& file) {
  std::error_code ignored;  // opening the file reports what is wrong
  fs::create_directories(file.parent_path(), ignored);
  const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
  struct stat about {};
  if (fd < 0 || fstat(fd, &about) != 0)
    throw UserError(fmt::format("cannot write {}: {}", file.string(), std::strerror(errno)));
  if (S_ISREG(about.st_mode) && about.st_uid == geteuid()) return fd;
  close(fd);
  throw UserError(
      fmt::format("{} is no file of this user's (it is user {}'s): remove it, or use "
                  "a folder of your own",
                  file.string(), about.st_uid));
}

bool flocked(int fd, int how) {
  while (flock(fd, how) != 0)
    if (errno != EINTR) return false;
  return true;
}

int flag_of(FileLock::Mode mode) {
  return mode == FileLock::Mode::shared ? LOCK_SH : LOCK_EX;
}

}  // namespace

FileLock::FileLock(const fs::path& file, Mode mode, const std::function<void()>& on_wait)
    : fd_(open_to_lock(file)) {
  if (flocked(fd_, flag_of(mode) | LOCK_NB)) return;
  if (on_wait) on_wait();
  if (flocked(fd_, flag_of(mode))) return;
  const int reason = errno;
  close(fd_);
  throw Broken(own_fault_of_errno(reason),
               fmt::format("cannot lock {}: {}", file.string(), std::strerror(reason)));
}

std::optional<FileLock> FileLock::try_now(const fs::path& file, Mode mode) {
  FileLock lock(open_to_lock(file));
  if (flocked(lock.fd_, flag_of(mode) | LOCK_NB)) return lock;
  return std::nullopt;
}

FileLock::~FileLock() {
  if (fd_ < 0) return;
  flock(fd_, LOCK_UN);  // forked processes that live on have it open as well
  close(fd_);
}

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

}  // namespace gauntlet
