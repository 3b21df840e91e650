// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "harness/build/toolchain.h"

namespace gauntlet {

/// A clang of this machine that makes PTX: version 17 or later with the NVPTX target. Found and
/// asked once a process; nothing where there is none. Nothing of the CUDA Toolkit is looked for or
/// used, see harness/simt/README.md.
const std::optional<Compiler>& find_cuda_compiler();

/// For messages: what to install.
inline constexpr const char* kNoCudaCompiler =
    "there is no clang 17 or later with the NVPTX target (apt install clang-19)";

}  // namespace gauntlet
