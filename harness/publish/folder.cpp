// SPDX-License-Identifier: Apache-2.0
#include "harness/publish/folder.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <unistd.h>

#include "harness/core/hold_interrupts.h"

namespace gauntlet {

namespace {

constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

[[noreturn]] void fail(int reason) {
  throw std::system_error(reason, std::generic_category());
}

/// A descriptor that closes itself.
class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {
    if (fd < 0) fail(errno);
  }
  ~Fd() {
    if (fd_ >= 0) close(fd_);
  }
  Fd(Fd&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int get() const { return fd_; }
  int give_up() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }

 private:
  int fd_;
};

/// The folder at the end of a path, reached without links.
Fd folder_at(int root, const std::string& path) {
  Fd folder(openat(root, ".", kFolder));
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    folder = Fd(openat(folder.get(), path.substr(begin, end - begin).c_str(), kFolder));
    begin = end + 1;
  }
  return folder;
}

struct Place {
  Fd folder;
  std::string name;
};

Place place_of(int root, const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {folder_at(root, ""), path};
  return {folder_at(root, path.substr(0, slash)), path.substr(slash + 1)};
}

std::string target_of(int folder, const char* name) {
  std::array<char, 4096> target{};
  const ssize_t size = readlinkat(folder, name, target.data(), target.size());
  return size < 0 ? "" : std::string(target.data(), static_cast<std::size_t>(size));
}

FolderEntry entry_of(int folder, const std::string& path, const char* name) {
  struct stat about {};
  if (fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) != 0) fail(errno);
  FolderEntry entry{path.empty() ? name : path + "/" + name, FolderEntry::Kind::other, 0, ""};
  if (S_ISDIR(about.st_mode)) entry.kind = FolderEntry::Kind::folder;
  if (S_ISREG(about.st_mode)) {
    entry.kind = FolderEntry::Kind::file;
    entry.bytes = static_cast<std::uint64_t>(about.st_size);
  }
  if (S_ISLNK(about.st_mode)) {
    entry.kind = FolderEntry::Kind::link;
    entry.target = target_of(folder, name);
  }
  return entry;
}

void write_all(int fd, const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno != EINTR) fail(errno);
    if (n > 0) done += static_cast<std::size_t>(n);
  }
}

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

/// The new content beside the old, on the disk before it takes the old one's name.
void put_beside(const Place& place, const std::string& beside, const FileContent& was,
                const std::string& bytes) {
  const Fd fresh(openat(place.folder.get(), beside.c_str(),
                        O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  write_all(fresh.get(), bytes);
  // Whose it is stays as it was where we may say so.
  if (fchown(fresh.get(), was.about.st_uid, was.about.st_gid) != 0 && errno != EPERM) fail(errno);
  if (fchmod(fresh.get(), was.about.st_mode & 0777) != 0 || fsync(fresh.get()) != 0) fail(errno);
}

}  // namespace

WorkingFolder::WorkingFolder(const std::filesystem::path& path)
    : root_(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (root_ < 0) fail(errno);
}

WorkingFolder::~WorkingFolder() {
  close(root_);
}

std::vector<FolderEntry> WorkingFolder::entries(const std::string& path) const {
  Fd folder = folder_at(root_, path);
  const std::unique_ptr<DIR, int (*)(DIR*)> list(fdopendir(folder.get()), closedir);
  if (!list) fail(errno);
  const int fd = folder.give_up();
  std::vector<FolderEntry> entries;
  errno = 0;
  while (const dirent* next = readdir(list.get())) {
    const std::string name = next->d_name;
    if (name != "." && name != "..") entries.push_back(entry_of(fd, path, name.c_str()));
    errno = 0;
  }
  if (errno != 0) fail(errno);
  std::sort(entries.begin(), entries.end(),
            [](const FolderEntry& a, const FolderEntry& b) { return a.path < b.path; });
  return entries;
}

FileContent WorkingFolder::read(const std::string& file, std::uint64_t most_bytes) const {
  const Place place = place_of(root_, file);
  const Fd fd(openat(place.folder.get(), place.name.c_str(),
                     O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  FileContent content;
  if (fstat(fd.get(), &content.about) != 0) fail(errno);
  if (!S_ISREG(content.about.st_mode)) fail(EINVAL);
  const auto size = static_cast<std::uint64_t>(content.about.st_size);
  if (size > most_bytes) fail(EFBIG);
  content.bytes.resize(size);
  std::size_t done = 0;
  while (done < size) {
    const ssize_t n = ::read(fd.get(), content.bytes.data() + done, size - done);
    if (n < 0 && errno != EINTR) fail(errno);
    if (n == 0) break;
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  content.bytes.resize(done);
  return content;
}

void WorkingFolder::replace(const std::string& file, const FileContent& was,
                            const std::string& bytes) const {
  const HoldInterrupts hold;
  const Place place = place_of(root_, file);
  const std::string beside = fmt::format("{}{}", kHalfWritten, getpid());
  try {
    put_beside(place, beside, was, bytes);
    struct stat now {};
    if (fstatat(place.folder.get(), place.name.c_str(), &now, AT_SYMLINK_NOFOLLOW) != 0)
      fail(errno);
    if (!same_file(now, was.about)) fail(EBUSY);
    if (renameat(place.folder.get(), beside.c_str(), place.folder.get(), place.name.c_str()) != 0)
      fail(errno);
  } catch (...) {
    unlinkat(place.folder.get(), beside.c_str(), 0);
    throw;
  }
  fsync(place.folder.get());  // so that a power cut does not bring the old one back
}

void WorkingFolder::remove(const FolderEntry& entry) const {
  const bool folder = entry.kind == FolderEntry::Kind::folder;
  if (folder)
    for (const FolderEntry& inner : entries(entry.path)) remove(inner);
  const Place place = place_of(root_, entry.path);
  if (unlinkat(place.folder.get(), place.name.c_str(), folder ? AT_REMOVEDIR : 0) != 0) fail(errno);
}

}  // namespace gauntlet
