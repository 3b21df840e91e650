// SPDX-License-Identifier: Apache-2.0
#include "harness/sandbox/runtime_files.h"

#include <algorithm>
#include <bit>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <span>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

#include "harness/sandbox/fd.h"
#include "harness/sandbox/runtime_libraries.h"

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPage = 4096;

// Only in a worker that was built with them, as we were.
constexpr const char* kSanitizers[] = {"libasan.so.8", "libasan.so.6", "libubsan.so.1",
                                       "libtsan.so.2"};

/// Allows a file by the name that the loader uses: every symbolic link on its way is a name that
/// has to exist where the worker has a file tree of its own.
void add(std::vector<PathRule>& rules, fs::path path, PathAccess access) {
  const auto add_once = [&](const fs::path& found, PathAccess how) {
    if (std::none_of(rules.begin(), rules.end(), [&](auto& rule) { return rule.path == found; }))
      rules.push_back({found, how});
  };
  for (int links = 0; links < 40; ++links) {
    fs::path walked, rest;
    std::error_code absent;
    for (const fs::path& part : path.lexically_normal()) {
      if (!rest.empty()) {
        rest /= part;
        continue;
      }
      const fs::path next = walked / part;
      if (fs::is_symlink(next, absent)) {
        add_once(next, PathAccess::link);
        rest = walked / fs::read_symlink(next, absent);
      } else {
        walked = next;
      }
    }
    if (rest.empty()) {
      if (fs::is_regular_file(walked, absent)) add_once(walked, access);
      return;
    }
    path = rest;
  }
}

/// Where the loader finds a library; empty when there is none.
fs::path found_by_loader(const char* name, int flags) {
#ifdef __SANITIZE_ADDRESS__
  const __lsan::ScopedDisabler
      not_ours;  // what the library's initialisers take and do not give back
#endif
  void* handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL | flags);
  if (handle == nullptr) return {};
  link_map* map = nullptr;
  const fs::path path = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : "";
  dlclose(handle);
  return path;
}

std::vector<PathRule> collect_worker_rules() {
  std::vector<PathRule> rules;
  Dl_info loader{};
  if (dladdr(std::bit_cast<void*>(getauxval(AT_BASE)), &loader) == 0 || loader.dli_fname == nullptr)
    throw Broken(OwnFault::sandbox,
                 "the program loader's own file is not known: is gauntlet linked statically?");
  add(rules, loader.dli_fname, PathAccess::execute);
  const fs::path system = found_by_loader("libc.so.6", 0).parent_path();
  for (const char* name : kRuntimeLibraries) {
    // An environment of ours that the worker does not have may lead us to another one.
    add(rules, found_by_loader(name, 0), PathAccess::read);
    add(rules, system / name, PathAccess::read);
  }
  for (const char* name : kSanitizers)
    add(rules, found_by_loader(name, RTLD_NOLOAD), PathAccess::read);
  for (const char* file : {"/etc/ld.so.cache", "/proc/cpuinfo"})
    rules.push_back({file, PathAccess::read});
  for (const char* device : {"/dev/null", "/dev/urandom"})
    rules.push_back({device, PathAccess::read});
  // Without listing: the time at which a folder was last listed would stay behind.
  for (const char* folder : {"/sys/devices/system/cpu", "/sys/devices/system/node"})
    rules.push_back({folder, PathAccess::read_known});
  return rules;
}

/// Our own view of every file on a disk among them, kept: pages that somebody maps stay longest.
std::vector<std::span<std::byte>> map_files() {
  std::vector<std::span<std::byte>> mapped;
  for (const PathRule& rule : worker_rules()) {
    if (rule.access == PathAccess::link || rule.path.native().starts_with("/proc")) continue;
    const Fd file(open(rule.path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat facts {};
    if (!file || fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) continue;
    const auto bytes = static_cast<std::size_t>(facts.st_size);
    void* base = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (base != MAP_FAILED) mapped.push_back({static_cast<std::byte*>(base), bytes});
  }
  return mapped;
}

}  // namespace

const std::vector<PathRule>& worker_rules() {
  static const std::vector<PathRule> rules = collect_worker_rules();
  return rules;
}

void make_runtime_files_resident() {
  static const std::vector<std::span<std::byte>> files = map_files();
  for (const std::span<std::byte> file : files) {
    if (madvise(file.data(), file.size(), MADV_POPULATE_READ) == 0) continue;
    for (std::size_t at = 0; at < file.size(); at += kPage)  // before Linux 5.14
      (void)*static_cast<volatile std::byte*>(file.data() + at);
  }
}

}  // namespace gauntlet
