// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/build/solution.h"
#include "harness/core/files.h"

namespace gauntlet {

/// Where one library is built. Its files have the same time in every build, and what a build makes
/// has names that no source can guess or ask for.
class BuildFolder {
 public:
  /// All that one build may write, in bytes. A build is begun only where there is more room than
  /// this, so that no submission can be what fills the disk.
  static constexpr std::uint64_t kRoom = std::uint64_t{512} << 20;

  /// Throws Broken where the temporary folder has too little room.
  BuildFolder();

  const std::filesystem::path& path() const { return scratch_.path(); }

  /// Writes, or writes again, these files and then the challenge's header over any copy of it.
  /// Throws Broken when they cannot be written.
  void put(const std::vector<SolutionSource::File>& files, std::string_view contract) const;

  /// Shows a file of ours under this name, for reading: whoever works here never writes to it.
  /// Throws Broken when it cannot.
  void lend(const std::filesystem::path& file, const std::string& name) const;

  /// A hidden name that exists nowhere yet: ".5f3a...-0001-KIND".
  std::string new_name(std::string_view kind);

  /// What a step printed, with the folder and the hidden part of names taken out.
  std::string without_our_names(std::string text) const;

  /// Bytes that what lies there takes.
  std::uint64_t used() const;

  /// Why this disk cannot be built on now, when it is not the build that filled it: too little
  /// room, or a quota or a fault that a file of ours meets. Empty when nothing is wrong.
  std::string fault() const;

  /// A file that a step left, which may be anything: empty when it is no regular file, or larger.
  /// Throws Broken when it is there and cannot be read.
  std::string take(const std::string& name, std::uint64_t most) const;

 private:
  ScratchFolder scratch_{"build"};
  std::string secret_;
  int names_ = 0;
};

}  // namespace gauntlet
