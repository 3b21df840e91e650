// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/core/files.h"
#include "harness/simt/front_end/device_compiler.h"

namespace gauntlet::simt {

/// A scratch folder with copies of our headers and of a stranger's sources, in which the compiler
/// works on them in the sandbox.
class CompileFolder {
 public:
  CompileFolder(const std::filesystem::path& headers, const std::filesystem::path& sources);

  std::string headers() const { return (folder_.path() / "include").string(); }
  std::string source(const std::string& name) const {
    return (folder_.path() / "source" / name).string();
  }
  /// Where a file may be put, or made, that is none of the sources.
  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }

  /// What one run of the compiler made: the bytes of `product`, empty when there are none.
  struct Made {
    std::string product;
    std::string messages;  // what it said, as it said it
  };
  /// Throws Broken when it cannot be started.
  Made run(const DeviceCompiler& compiler, const std::vector<std::string>& arguments,
           const std::string& product) const;

 private:
  ScratchFolder folder_;
};

}  // namespace gauntlet::simt
