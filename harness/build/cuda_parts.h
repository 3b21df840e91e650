// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace gauntlet {

/// What CUDA solutions are built with besides their compiler. It is ours, and lies where the build
/// of this project puts it, in one folder.
struct CudaParts {
  std::filesystem::path headers;  // a folder, as of harness/simt/include
  std::filesystem::path runtime;  // the CUDA runtime's functions, a static library
  std::filesystem::path device;   // gauntlet-device, which executes kernels
  std::string digest;             // of all three
};

/// Looked for once a process, beside the program that is running or where take_cuda_parts_from()
/// said. Throws Broken when something of it is not there.
const CudaParts& cuda_parts();

/// For processes that become a user who may not read the program's folder: a copy of the parts, and
/// the folder of such a copy, to be said before the first cuda_parts().
void copy_cuda_parts(const std::filesystem::path& to);
void take_cuda_parts_from(const std::filesystem::path& folder);

}  // namespace gauntlet
