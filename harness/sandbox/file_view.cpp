// SPDX-License-Identifier: Apache-2.0
#include "harness/sandbox/file_view.h"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness/core/error.h"
#include "harness/sandbox/namespaces.h"
#include "harness/sandbox/runtime_files.h"
#include "harness/sandbox/trial.h"

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

// Newer than the C library of the oldest system we build on; the numbers are the kernel's, and the
// same on every architecture. Kernels before 5.12 have not all of them: there is no view there.
constexpr long kOpenTree = 428, kMoveMount = 429, kMountSetattr = 442;
constexpr unsigned kCloneTree = 1, kWholeTree = 0x8000;  // OPEN_TREE_CLONE, AT_RECURSIVE
constexpr unsigned kFromDescriptor = 4;                  // MOVE_MOUNT_F_EMPTY_PATH
constexpr std::uint64_t kReadOnly = 1;                   // MOUNT_ATTR_RDONLY

struct MountAttributes {
  std::uint64_t set;
  std::uint64_t clear;
  std::uint64_t propagation;
  std::uint64_t user_namespace;
};

// Where the new root is put together; every system has it, and what lies below was taken before.
constexpr const char* kWorkshop = "/usr";
constexpr std::size_t kMostEntries = 64;

/// "/usr/lib" as seen from the new root, which is the current folder.
const char* relative(const std::string& path) {
  return path.c_str() + 1;
}

/// The file or folder with its mounts, apart from every tree; -1 and errno.
int taken(const std::string& path, bool writable) {
  const auto tree = static_cast<int>(
      syscall(kOpenTree, AT_FDCWD, path.c_str(), kCloneTree | kWholeTree | O_CLOEXEC));
  if (tree < 0 || writable) return tree;
  const MountAttributes read_only{kReadOnly, 0, 0, 0};
  if (syscall(kMountSetattr, tree, "", AT_EMPTY_PATH | kWholeTree, &read_only, sizeof read_only) ==
      0)
    return tree;
  close(tree);
  return -1;
}

}  // namespace

FileView::FileView(std::vector<PathRule> rules, Proc proc) {
  if (proc == Proc::shown) rules.push_back({"/proc", PathAccess::read});
  // Upper folders first, so that what lies in them comes on top.
  std::sort(rules.begin(), rules.end(),
            [](const PathRule& a, const PathRule& b) { return a.path < b.path; });
  for (const PathRule& rule : rules) {
    std::error_code absent;
    const fs::file_status facts = fs::symlink_status(rule.path, absent);
    if (!fs::exists(facts)) continue;
    Entry entry{rule.path.string(), "", fs::is_directory(facts),
                rule.access == PathAccess::work_folder};
    if (fs::is_symlink(facts)) entry.target = fs::read_symlink(rule.path).string();
    if (entry.writable) work_folder_ = entry.path;
    add_parents(entry.path);
    entries_.push_back(std::move(entry));
  }
  if (entries_.size() > kMostEntries) throw Broken(OwnFault::bug, "FileView: too many paths");
}

void FileView::add_parents(const std::string& path) {
  for (std::size_t at = 1; (at = path.find('/', at)) != std::string::npos; ++at)
    if (const std::string parent = path.substr(0, at);
        std::find(parents_.begin(), parents_.end(), parent) == parents_.end())
      parents_.push_back(parent);
}

const char* FileView::enter() const {
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return "mounts: private";
  if (const char* failed = mount_all()) return failed;
  constexpr unsigned long kSealed = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV;
  if (mount(nullptr, ".", nullptr, kSealed, nullptr) != 0) return "mounts: read-only";
  // The old root comes to lie on the new one, and is then taken off.
  if (syscall(SYS_pivot_root, ".", ".") != 0) return "mounts: pivot_root";
  if (umount2(".", MNT_DETACH) != 0) return "mounts: the old root";
  return chdir(work_folder_.c_str()) == 0 ? nullptr : "mounts: the work folder";
}

const char* FileView::mount_all() const {
  std::array<int, kMostEntries> trees{};
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!entries_[i].target.empty()) continue;
    trees[i] = taken(entries_[i].path, entries_[i].writable);
    if (trees[i] < 0) return entries_[i].path.c_str();
  }
  umask(022);
  if (mount("gauntlet", kWorkshop, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") != 0 ||
      chdir(kWorkshop) != 0)
    return "mounts: tmpfs";
  for (const std::string& parent : parents_) mkdir(relative(parent), 0755);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (!entry.target.empty()) {
      if (symlink(entry.target.c_str(), relative(entry.path)) != 0) return "mounts: symlink";
      continue;
    }
    if (entry.is_folder)
      mkdir(relative(entry.path), 0755);  // or it lies in a folder that was mounted before
    else
      close(open(relative(entry.path), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
    if (syscall(kMoveMount, trees[i], "", AT_FDCWD, relative(entry.path), kFromDescriptor) != 0)
      return entry.path.c_str();
    close(trees[i]);
  }
  return nullptr;
}

const std::string& why_no_file_view() {
  static OncePerUser once;
  return once.ask([] {
    const FileView view(worker_rules());
    return failure_in_child([&]() -> const char* {
      if (const char* failed = enter_namespaces(&view)) return failed;
      const bool hidden = open("/etc/passwd", O_RDONLY | O_CLOEXEC) < 0 && errno == ENOENT;
      if (!hidden) return "/etc/passwd stayed in sight";
      return open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0 ? nullptr : "/dev/null was lost";
    });
  });
}

}  // namespace gauntlet
