// SPDX-License-Identifier: Apache-2.0
#include "harness/build/build_folder.h"

#include <array>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "harness/core/error.h"
#include "harness/core/rng.h"
#include "harness/sandbox/fd.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kContract = "contract.h";
// What a file system takes for itself beside the bytes of a build's files.
constexpr std::uint64_t kMargin = std::uint64_t{64} << 20;
constexpr std::uint64_t kFewestInodes = 1000;  // a build makes a few hundred files at most
constexpr std::array<timespec, 2> kFileTimes{{{315532800, 0}, {315532800, 0}}};  // 1980-01-01

/// Empty when an ordinary program finds this much room there.
std::string lacking(const fs::path& folder, std::uint64_t wanted) {
  struct statvfs disk {};
  if (statvfs(folder.c_str(), &disk) != 0) return std::strerror(errno);
  const std::uint64_t free = std::uint64_t{disk.f_bavail} * disk.f_frsize;
  if (free < wanted)
    return fmt::format("{} MiB are free and a build needs {}", free >> 20, wanted >> 20);
  // File systems without a table of files count none.
  if (disk.f_files > 0 && disk.f_favail < kFewestInodes)
    return fmt::format("it has room for {} files more and a build needs {}",
                       std::uint64_t{disk.f_favail}, kFewestInodes);
  return "";
}

/// Tells quotas and broken disks, which statvfs does not.
std::string refused_write(const fs::path& file) {
  try {
    write_file(file, std::string(std::size_t{1} << 20, 'x'));
  } catch (const UserError& error) {
    return error.what();
  }
  std::error_code ignored;
  fs::remove(file, ignored);
  return "";
}

void put_file(const fs::path& file, std::string_view content) {
  try {
    write_file(file, content);
  } catch (const UserError& error) {
    throw Broken(OwnFault::files, error.what());
  }
  // For __TIMESTAMP__, and for warnings that compare times.
  if (utimensat(AT_FDCWD, file.c_str(), kFileTimes.data(), AT_SYMLINK_NOFOLLOW) != 0)
    broken_call("setting the time of " + file.string());
}

}  // namespace

BuildFolder::BuildFolder() : secret_(fmt::format("{:016x}{:016x}", entropy(), entropy())) {
  if (const std::string why = lacking(path(), kRoom + kMargin); !why.empty())
    throw Broken(OwnFault::files,
                 fmt::format("nothing can be built in {}: {}; make room there, or set TMPDIR to "
                             "another folder",
                             path().parent_path().string(), why));
}

void BuildFolder::put(const std::vector<SolutionSource::File>& files,
                      std::string_view contract) const {
  for (const SolutionSource::File& file : files) put_file(path() / file.name, file.content);
  put_file(path() / kContract, contract);
}

void BuildFolder::lend(const fs::path& file, const std::string& name) const {
  std::error_code error;
  fs::create_hard_link(file, path() / name, error);
  if (error) fs::copy_file(file, path() / name, error);  // it lies on another disk
  if (error)
    throw Broken(OwnFault::files, fmt::format("cannot copy {} to {}: {}", file.string(),
                                              path().string(), error.message()));
}

std::string BuildFolder::new_name(std::string_view kind) {
  return fmt::format(".{}-{:04}-{}", secret_, ++names_, kind);
}

std::string BuildFolder::without_our_names(std::string text) const {
  const auto erase = [&text](const std::string& name, std::size_t more) {
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at))
      text.erase(at, name.size() + more);
  };
  erase(path().string() + "/", 0);
  erase(fmt::format(".{}-", secret_), std::string_view("0001-").size());
  return text;
}

std::uint64_t BuildFolder::used() const {
  std::uint64_t bytes = 0;
  std::error_code error;
  fs::recursive_directory_iterator all(path(), error);
  for (; !error && all != fs::end(all); all.increment(error)) {
    struct stat facts {};
    if (lstat(all->path().c_str(), &facts) == 0)
      bytes += static_cast<std::uint64_t>(facts.st_blocks) * 512;
  }
  return bytes;
}

std::string BuildFolder::fault() const {
  const std::uint64_t used_here = used();
  // There was kMargin more at the start: a build that used all of its room leaves this much.
  const std::string why = lacking(path(), kRoom - std::min(used_here, kRoom));
  return why.empty() ? refused_write(path() / ("." + secret_ + "-probe")) : why;
}

std::string BuildFolder::take(const std::string& name, std::uint64_t most) const {
  const Fd file(open((path() / name).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat facts {};
  if (!file || fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return "";
  if (static_cast<std::uint64_t>(facts.st_size) > most) return "";
  std::string content(static_cast<std::size_t>(facts.st_size), '\0');
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t got = read(file.get(), content.data() + done, content.size() - done);
    if (got <= 0) broken_call("reading what was built");
    done += static_cast<std::size_t>(got);
  }
  return content;
}

}  // namespace gauntlet
