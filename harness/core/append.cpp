// SPDX-License-Identifier: Apache-2.0
#include "harness/core/append.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <sys/file.h>
#include <unistd.h>

#include "harness/core/error.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

/// Where the last whole line ends.
off_t end_of_lines(int fd) {
  for (off_t end = lseek(fd, 0, SEEK_END); end > 0; --end)
    if (char last = 0; pread(fd, &last, 1, end - 1) == 1 && last == '\n') return end;
  return 0;
}

bool write_all(int fd, std::string_view text, off_t at) {
  while (!text.empty()) {
    const ssize_t n = pwrite(fd, text.data(), text.size(), at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
    at += n;
  }
  return fsync(fd) == 0;
}

}  // namespace

void append_lines(const fs::path& file, std::string_view lines) {
  const auto fail = [&](std::string_view step, int reason) {
    throw UserError(
        fmt::format("cannot write {}: {}: {}", file.string(), step, std::strerror(reason)));
  };
  std::error_code error;
  if (file.has_parent_path()) fs::create_directories(file.parent_path(), error);
  const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (fd < 0) fail("opening it", errno);
  const std::unique_ptr<const int, void (*)(const int*)> closes(
      &fd, [](const int* one) { close(*one); });
  while (flock(fd, LOCK_EX) != 0)
    if (errno != EINTR) fail("locking it", errno);
  const off_t end = end_of_lines(fd);
  if (ftruncate(fd, end) != 0) fail("cutting off half a line", errno);
  if (write_all(fd, lines, end)) return;
  const int reason = errno;
  if (ftruncate(fd, end) != 0) fail("taking back half a line", errno);
  fail("writing", reason);
}

}  // namespace gauntlet
