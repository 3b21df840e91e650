// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "harness/attacks/evidence.h"
#include "harness/core/files.h"
#include "harness/sandbox/fd.h"

namespace gauntlet {

/// What attacks are after: a file to read and one to spoil, a folder that everybody may write,
/// sockets that somebody listens at, a secret number in the grading process. All of it is the
/// audit's own, so that an attack which succeeds, because a wall was taken down, does no harm.
class Decoys {
 public:
  Decoys();

  /// decoys.h: where all of this is, for the programs. Never the secret itself.
  std::string header() const;

  const std::string& secret() const { return secret_; }
  const std::string& mark() const {
    return mark_;
  }  // name that attacking processes give themselves

  /// Puts everything out anew, as the property of the user who calls this.
  void put_out();

  /// Looks at what only shows while the attack runs.
  void look(Evidence& evidence) const;

  /// Looks at what was left, and makes everything as it was.
  void collect(Evidence& evidence);

  // What a grading process shows to attackers; the addresses are the same in all its forks.
  static constexpr int kSecretFd = 100;
  void become_target() const;
  static bool memory_changed();

 private:
  void collect_files(Evidence& evidence);
  void collect_messages(Evidence& evidence);
  void collect_ipc(Evidence& evidence) const;
  std::filesystem::path secret_file() const;
  std::filesystem::path victim() const { return folder_.path() / "victim"; }

  ScratchFolder folder_{"decoys"};
  std::string secret_;
  std::string mark_;
  std::filesystem::path lock_file_;
  int ipc_key_;
  Fd tcp_, udp_, unix_, abstract_;
  int tcp_port_ = 0, udp_port_ = 0, open_port_ = 0;
};

}  // namespace gauntlet
