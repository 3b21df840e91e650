// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/simt/front_end/device_compiler.h"

namespace gauntlet::simt {

/// The fixed flags of every compilation of a .cu file for the host, and of the library's linking.
/// The same clang as for the device: both halves have to agree about names and layouts.
std::vector<std::string> host_flags(const std::string& headers);

struct HostCode {
  std::string library;   // a shared library; empty when there is none
  std::string messages;  // what clang and the linker said, as they said it
};

/// Makes the host's half of one .cu file a library, with `runtime`, a static library that has the
/// CUDA runtime's functions, linked into it. In the sandbox. Throws Broken when that cannot be
/// tried.
HostCode compile_host(const DeviceCompiler& compiler, const std::filesystem::path& headers,
                      const std::filesystem::path& runtime, const std::filesystem::path& source);

}  // namespace gauntlet::simt
