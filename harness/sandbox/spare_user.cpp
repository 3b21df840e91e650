// SPDX-License-Identifier: Apache-2.0
#include "harness/sandbox/spare_user.h"

#include <array>
#include <fcntl.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>

namespace gauntlet {
namespace {

constexpr uid_t kFirst = 60001;
constexpr uid_t kLast = 60999;

bool has_account(uid_t id) {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> text;
  return getpwuid_r(id, &entry, text.data(), text.size(), &found) == 0 && found != nullptr;
}

/// Opens the folder of claims, which is made when it is not there. Another user who made it, or may
/// write into it, could hold every claim.
Fd open_claims(const std::filesystem::path& claims) {
  if (mkdir(claims.c_str(), 0700) != 0 && errno != EEXIST)
    broken_call(fmt::format("cannot make {}, in which root keeps the user ids that sandboxes use",
                            claims.string()));
  Fd folder(open(claims.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) broken_call(fmt::format("cannot open the folder {}", claims.string()));
  struct stat about {};
  if (fstat(folder.get(), &about) != 0) broken_call("fstat of " + claims.string());
  if (about.st_uid != 0 || (about.st_mode & 077) != 0)
    throw Broken(
        OwnFault::sandbox,
        fmt::format("{} belongs to user {} with mode {:o}, wanted root and 700: others could hold "
                    "the user ids of sandboxes; remove it",
                    claims.string(), about.st_uid, about.st_mode & 07777));
  return folder;
}

/// A lock, not the file, is the claim: the kernel gives it back however its holder ends.
Fd claim(const Fd& folder, uid_t id) {
  const std::string name = fmt::format("uid-{}", id);
  Fd file(openat(folder.get(), name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) broken_call("claiming a user id: opening " + name);
  if (flock(file.get(), LOCK_EX | LOCK_NB) == 0) return file;
  return Fd();
}

}  // namespace

std::optional<SpareUser> SpareUser::take_if_root(const std::filesystem::path& claims) {
  if (geteuid() != 0) return std::nullopt;
  const Fd folder = open_claims(claims);
  for (uid_t id = kFirst; id <= kLast; ++id) {
    if (Fd held = claim(folder, id); held && !has_account(id))
      return SpareUser(id, std::move(held));
  }
  throw Broken(
      OwnFault::sandbox,
      fmt::format("every user id from {} to {} is taken: each is a file in {} that a running "
                  "gauntlet has locked (lslocks shows which); end some, or grade less at once",
                  kFirst, kLast, claims.string()));
}

}  // namespace gauntlet
