// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace gauntlet {

/// What CUDA solutions are built with besides their compiler. It is ours, and lies beside the
/// program that is running, where the build of this project puts it.
struct CudaParts {
  std::filesystem::path headers;  // a folder, as of harness/simt/include
  std::filesystem::path runtime;  // the CUDA runtime's functions, a static library
  std::filesystem::path device;   // gauntlet-device, which executes kernels
  std::string digest;             // of all three
};

/// Looked for once a process. Throws Broken when something of it is not there.
const CudaParts& cuda_parts();

}  // namespace gauntlet
