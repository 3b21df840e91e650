// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/files.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

// Nobody calls a folder so that is to be kept: whatever has the name and no lock is removed.
constexpr std::string_view kPrefix = ".gauntlet-scratch.";
constexpr std::string_view kRandom = ".XXXXXX";

bool has_scratch_name(const std::string& name) {
  return name.starts_with(kPrefix) && name.size() > kPrefix.size() + kRandom.size() &&
         name[name.size() - kRandom.size()] == '.';
}

int open_folder(const fs::path& folder) {
  return open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

/// Whether the path still leads to what was opened.
bool lies_at(int fd, const fs::path& path) {
  struct stat opened {};
  struct stat there {};
  return fstat(fd, &opened) == 0 && lstat(path.c_str(), &there) == 0 &&
         opened.st_dev == there.st_dev && opened.st_ino == there.st_ino;
}

/// The kernel gives a lock back however its holder ends, which no file that says "taken" does.
bool lock(int fd, int how) {
  while (flock(fd, LOCK_EX | how) != 0)
    if (errno != EINTR) return false;
  return true;
}

bool has_account(uid_t id) {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> text;
  const int failed = getpwuid_r(id, &entry, text.data(), text.size(), &found);
  return failed != 0 || found != nullptr;  // who cannot be looked up may have one
}

/// Root gives build folders to users that have no account.
bool is_ours(int fd) {
  struct stat about {};
  if (fstat(fd, &about) != 0) return false;
  return about.st_uid == geteuid() || (geteuid() == 0 && !has_account(about.st_uid));
}

void remove_if_left(const fs::path& folder) {
  const int fd = open_folder(folder);
  if (fd < 0) return;
  std::error_code ignored;  // a leftover is no reason to end a run
  if (is_ours(fd) && lock(fd, LOCK_NB) && lies_at(fd, folder)) fs::remove_all(folder, ignored);
  close(fd);
}

}  // namespace

ScratchFolder::ScratchFolder(std::string_view purpose) {
  while (claim_ < 0) {
    std::string pattern =
        (fs::temp_directory_path() / fmt::format("{}{}{}", kPrefix, purpose, kRandom)).string();
    if (mkdtemp(pattern.data()) == nullptr)
      throw Broken(OwnFault::files, fmt::format("cannot make a scratch folder {}: {}", pattern,
                                                std::strerror(errno)));
    path_ = pattern;
    claim_ = open_folder(path_);
    // A sweep can find it before it is locked, and takes it for a leftover: then another is made.
    if (claim_ >= 0 && (!lock(claim_, 0) || lies_at(claim_, path_))) return;
    if (claim_ < 0 && errno != ENOENT)
      throw Broken(OwnFault::files, fmt::format("cannot open the scratch folder {}: {}", pattern,
                                                std::strerror(errno)));
    if (claim_ >= 0) close(claim_);
    claim_ = -1;
  }
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;  // a leftover in the temporary folder is no reason to end a run
  fs::remove_all(path_, ignored);
  close(claim_);
}

void sweep_scratch_folders() {
  std::error_code unreadable;  // then there is nothing to find
  std::vector<fs::path> found;
  for (auto entry = fs::directory_iterator(fs::temp_directory_path(unreadable), unreadable);
       !unreadable && entry != fs::directory_iterator(); entry.increment(unreadable))
    if (has_scratch_name(entry->path().filename().string())) found.push_back(entry->path());
  for (const fs::path& folder : found) remove_if_left(folder);
}

}  // namespace gauntlet
