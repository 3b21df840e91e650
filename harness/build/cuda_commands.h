// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/build/toolchain.h"

namespace gauntlet {

/// What a build has of ours, in one hidden folder of the build's; no file of a submission can have
/// a name that this one begins with, as messages print it.
inline constexpr std::string_view kCudaFolder = "~cuda";

/// The command lines of a CUDA build, run in the folder of the sources. Own headers are found by
/// #include "..." and not by <...>, so that none takes the place of one of the system's; and the
/// hidden folder's name is in nothing that is made.
class CudaCommands {
 public:
  /// `ours`: the hidden folder, with headers/, runtime.a and the file `embedded`.
  CudaCommands(const Toolchain& tools, std::string ours)
      : compiler_(tools.compiler().path), warnings_(tools.solution_flags), ours_(std::move(ours)) {}

  using Arguments = std::vector<std::string>;
  Arguments device(const std::string& source, const std::string& ptx) const;
  Arguments host(const std::string& source, const std::string& object) const;
  Arguments beside(const std::string& source, const std::string& object) const;  // of C++
  Arguments link(const Arguments& objects, const std::string& library) const;

  std::string headers() const { return ours_ + "/headers"; }
  std::string runtime() const { return ours_ + "/runtime.a"; }
  std::string embedded() const { return ours_ + "/embedded"; }

 private:
  Arguments command(const Arguments& flags, const std::string& source,
                    const std::string& product) const;

  std::string compiler_;
  Arguments warnings_;
  std::string ours_;
};

/// Their flags: Toolchain::flags_in_words.
std::string cuda_flags(const Toolchain& tools);

}  // namespace gauntlet
