// SPDX-License-Identifier: Apache-2.0
#include "harness/core/files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <stdlib.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "harness/core/error.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kRandomEnding = ".XXXXXX";  // of temporary files, as mkostemp wants it

[[noreturn]] void refuse(const fs::path& file, const std::string& why) {
  throw UserError(fmt::format("cannot read {}: {}", file.string(), why));
}

/// Says what lies there instead of a file.
std::string kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

/// Opens without waiting for a pipe's other end, and without making a terminal ours.
int open_to_read(const fs::path& file, const ReadRule& rule) {
  const int links = rule.follow_links ? 0 : O_NOFOLLOW;
  int fd = -1;
  do fd = open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | links);
  while (fd < 0 && errno == EINTR);
  if (fd < 0 && errno == ELOOP && !rule.follow_links)
    refuse(file, "it is a symbolic link, which is not followed here; put the file itself there");
  if (fd < 0) refuse(file, std::strerror(errno));
  return fd;
}

/// The bytes of an open file, one more than wanted when there are too many.
std::string take(int fd, std::uint64_t most) {
  std::string content;
  std::array<char, 1 << 16> piece;
  while (content.size() <= most) {
    const ssize_t n =
        read(fd, piece.data(), std::min<std::uint64_t>(piece.size(), most + 1 - content.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw std::system_error(errno, std::generic_category());
    if (n == 0) break;
    content.append(piece.data(), static_cast<std::size_t>(n));
  }
  return content;
}

}  // namespace

std::string read_file(const fs::path& file, const ReadRule& rule) {
  const int fd = open_to_read(file, rule);
  const std::unique_ptr<const int, void (*)(const int*)> closes(
      &fd, [](const int* one) { close(*one); });
  struct stat about {};
  if (fstat(fd, &about) != 0) refuse(file, std::strerror(errno));
  if (!S_ISREG(about.st_mode))
    refuse(file, fmt::format("it is {}, not a regular file; put a file with the content there",
                             kind_of(about.st_mode)));
  const auto too_large = [&](const std::string& size) {
    refuse(file, fmt::format("it holds {} bytes, at most {} are read; make it shorter, or take it "
                             "away if it is not yours",
                             size, rule.most_bytes));
  };
  if (static_cast<std::uint64_t>(about.st_size) > rule.most_bytes)
    too_large(fmt::format("{}", about.st_size));
  try {
    std::string content = take(fd, rule.most_bytes);
    if (content.size() > rule.most_bytes) too_large("more");
    return content;
  } catch (const std::system_error& error) {
    refuse(file, error.code().message());
  }
}

void write_file(const fs::path& file, std::string_view content) {
  const auto fail = [&](std::string_view step) {
    throw UserError(
        fmt::format("cannot write {}: {}: {}", file.string(), step, std::strerror(errno)));
  };
  std::error_code error;
  if (file.has_parent_path()) fs::create_directories(file.parent_path(), error);
  if (error) {
    errno = error.value();
    fail("making its folder");
  }
  std::string temporary = file.string() + std::string(kRandomEnding);
  const int fd = mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) fail("opening a temporary file beside it");
  bool written = true;
  for (std::size_t done = 0; written && done < content.size();) {
    const ssize_t n = ::write(fd, content.data() + done, content.size() - done);
    if (n < 0 && errno != EINTR) written = false;
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  written = written && fchmod(fd, 0644) == 0 && fsync(fd) == 0;
  written = (close(fd) == 0) && written;
  if (!written || rename(temporary.c_str(), file.c_str()) != 0) {
    const int reason = errno;
    unlink(temporary.c_str());
    errno = reason;
    fail("writing");
  }
}

void sweep_temporaries(const fs::path& folder, const std::vector<std::string>& names) {
  std::error_code error;  // a leftover is no reason to end a run
  for (auto entry = fs::directory_iterator(folder, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const bool ours = std::any_of(names.begin(), names.end(), [&](const std::string& file) {
      return name.starts_with(file + ".") && name.size() == file.size() + kRandomEnding.size();
    });
    if (ours) unlink(entry->path().c_str());
  }
}

}  // namespace gauntlet
