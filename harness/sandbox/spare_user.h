// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <sys/types.h>

#include "harness/sandbox/fd.h"

namespace gauntlet {

/// An uid that no account and no other sandbox on this machine uses, for as long as this lives.
class SpareUser {
 public:
  /// Empty when this process is not root and therefore cannot change its user. Each taken uid is a
  /// locked file in `claims`, where only root comes in: nobody else can hold one. Throws Broken
  /// when all spare uids are taken, and when the folder is not root's alone.
  static std::optional<SpareUser> take_if_root(
      const std::filesystem::path& claims = "/run/gauntlet");

  uid_t id() const { return id_; }

 private:
  SpareUser(uid_t id, Fd claim) : id_(id), claim_(std::move(claim)) {}

  uid_t id_;
  Fd claim_;
};

}  // namespace gauntlet
