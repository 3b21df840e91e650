// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/simt/front_end/device_compiler.h"

namespace gauntlet::simt {

/// The fixed flags of every compilation of a .cu file for the host. The same clang as for the
/// device: both halves have to agree about names and layouts. Without something to embed clang
/// registers no kernels: `embedded` is a file with anything in it, as the PTX goes another way.
std::vector<std::string> host_flags(const std::string& headers, const std::string& embedded);

/// Those of linking a library, which is given its device by a function of the runtime.
std::vector<std::string> host_link_flags();

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
