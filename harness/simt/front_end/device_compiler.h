// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace gauntlet::simt {

/// A clang of this machine that makes PTX: version 17 or later with the NVPTX target.
struct DeviceCompiler {
  std::string path;                            // "/usr/lib/llvm-19/bin/clang++"
  std::string version;                         // "Debian clang version 19.1.7 (3~deb12u1)"
  std::vector<std::filesystem::path> folders;  // where its own files lie
};

/// Found and asked once a process; nothing where there is none. Nothing of the CUDA Toolkit is
/// looked for or used, see README.md.
const std::optional<DeviceCompiler>& device_compiler();

/// For messages: what to install.
inline constexpr const char* kNoDeviceCompiler =
    "there is no clang 17 or later with the NVPTX target (apt install clang-19)";

/// The fixed flags of every device compilation. Sources see `headers`, a copy of
/// harness/simt/include, and no header of NVIDIA's.
std::vector<std::string> device_flags(const std::string& headers);

struct DeviceCode {
  std::string ptx;       // empty when it did not compile
  std::string messages;  // what clang said, as it said it
};

/// Compiles one .cu file of `folder` to PTX, in the sandbox: the source is a stranger's. Throws
/// Broken when that cannot be tried.
DeviceCode compile_device(const DeviceCompiler& compiler, const std::filesystem::path& headers,
                          const std::filesystem::path& source);

}  // namespace gauntlet::simt
