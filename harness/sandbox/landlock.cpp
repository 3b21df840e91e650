// SPDX-License-Identifier: Apache-2.0
#include "harness/sandbox/landlock.h"

#include <algorithm>
#include <cstdint>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness/sandbox/runtime_files.h"

namespace gauntlet {
namespace {

// Newer than the kernel headers of the oldest system we build on.
constexpr std::uint64_t kRefer = 1u << 13;                                       // version 2
constexpr std::uint64_t kTruncate = 1u << 14;                                    // version 3
constexpr std::uint64_t kIoctl = 1u << 15;                                       // version 5
constexpr std::uint64_t kBindTcp = 1u << 0, kConnectTcp = 1u << 1;               // version 4
constexpr std::uint64_t kScopeAbstractSocket = 1u << 0, kScopeSignal = 1u << 1;  // version 6

struct RulesetAttributes {
  std::uint64_t files;
  std::uint64_t net;
  std::uint64_t scoped;
};

constexpr std::uint64_t kRead = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kFirstVersion = (1u << 13) - 1;  // every right of version 1
constexpr std::uint64_t kOnFiles = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |
                                   LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate | kIoctl;

RulesetAttributes attributes_of(int version) {
  RulesetAttributes all{kFirstVersion, 0, 0};
  if (version >= 2) all.files |= kRefer;
  if (version >= 3) all.files |= kTruncate;
  if (version >= 4) all.net = kBindTcp | kConnectTcp;
  if (version >= 5) all.files |= kIoctl;
  if (version >= 6) all.scoped = kScopeAbstractSocket | kScopeSignal;
  return all;
}

std::uint64_t rights(PathAccess access) {
  switch (access) {
    case PathAccess::read:
      return kRead;
    case PathAccess::read_known:
      return LANDLOCK_ACCESS_FS_READ_FILE;
    case PathAccess::link:
      return 0;
    case PathAccess::execute:
      return kRead | LANDLOCK_ACCESS_FS_EXECUTE;
    case PathAccess::device:
      return kRead | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate | kIoctl;
    case PathAccess::work_folder:
      // A compiler makes files, folders and links; it has no use for devices, sockets and pipes.
      return kRead | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
             LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |
             LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SYM | kRefer | kTruncate;
  }
  throw Broken(OwnFault::bug, "rights: no such access");
}

void add_rule(int ruleset, const PathRule& rule, std::uint64_t handled) {
  if (rule.access == PathAccess::link) return;
  const Fd path(open(rule.path.c_str(), O_PATH | O_CLOEXEC));
  if (!path) return;
  struct stat facts {};
  if (fstat(path.get(), &facts) != 0) broken_call("Landlock: fstat " + rule.path.string());
  std::uint64_t allowed = rights(rule.access) & handled;
  if (!S_ISDIR(facts.st_mode)) allowed &= kOnFiles;
  const landlock_path_beneath_attr beneath{allowed, path.get()};
  if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) != 0)
    broken_call("Landlock: allowing " + rule.path.string());
}

/// "x86_64-linux-gnu": Debian and Ubuntu have a folder of libraries for each kind of machine.
std::vector<std::string> library_folders() {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/lib", none))
    if (const std::string name = entry.path().filename().string();
        name.find("-linux-gnu") != std::string::npos)
      names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

int landlock_version() {
  const long version =
      syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return version < 0 ? 0 : static_cast<int>(version);
}

Fd landlock_ruleset(const std::vector<PathRule>& rules) {
  const int version = landlock_version();
  if (version == 0) return Fd();
  const RulesetAttributes handled = attributes_of(version);
  // Older kernels accept the longer struct as long as what they do not know is zero.
  Fd ruleset(static_cast<int>(syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0)));
  if (!ruleset) broken_call("Landlock: making a ruleset");
  for (const PathRule& rule : rules) add_rule(ruleset.get(), rule, handled.files);
  return ruleset;
}

int landlock_restrict(int ruleset) {
  return static_cast<int>(syscall(SYS_landlock_restrict_self, ruleset, 0));
}

std::vector<PathRule> compile_rules(const std::filesystem::path& work_folder) {
  // Single folders: what else lies below /usr, a checkout of ours perhaps, is nobody's header.
  std::vector<PathRule> rules{
      {"/usr/bin", PathAccess::execute},       {"/bin", PathAccess::execute},
      {"/usr/lib/gcc", PathAccess::execute},   {"/usr/libexec/gcc", PathAccess::execute},
      {"/usr/lib64", PathAccess::execute},     {"/lib64", PathAccess::execute},
      {"/usr/include", PathAccess::read},      {"/etc/ld.so.cache", PathAccess::read},
      {"/etc/alternatives", PathAccess::read},  // g++ may be a link there
      {"/dev/null", PathAccess::device},       {work_folder, PathAccess::work_folder}};
  for (const std::string& name : library_folders())
    for (const char* parent : {"/usr/lib/", "/lib/"})
      rules.push_back({parent + name, PathAccess::execute});
  if (access("/usr/local/bin/g++", X_OK) == 0)  // which is then the compiler, see find_compiler
    for (const char* part : {"bin", "lib", "lib64", "libexec", "include"})
      rules.push_back({std::string("/usr/local/") + part, PathAccess::execute});
  return rules;
}

std::string why_readable(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path place = fs::weakly_canonical(fs::absolute(folder, error), error);
  for (const auto& [reader, rules] :
       {std::pair{"compilers", compile_rules({})}, std::pair{"submissions", worker_rules()}})
    for (const PathRule& rule : rules) {
      if (rule.path.empty() || !fs::exists(rule.path, error)) continue;
      const fs::path open_to_all = fs::canonical(rule.path, error);
      const auto [end, rest] =
          std::mismatch(open_to_all.begin(), open_to_all.end(), place.begin(), place.end());
      if (end == open_to_all.end())
        return fmt::format("{} lies in {}, which {} may read: put it elsewhere, in /opt or a home",
                           place.string(), open_to_all.string(), reader);
    }
  return "";
}

}  // namespace gauntlet
