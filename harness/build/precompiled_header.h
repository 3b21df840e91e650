// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "harness/build/build_library.h"
#include "harness/build/toolchain.h"

namespace gauntlet {

/// The headers that most subjects include, read once for all of them: half of a subject's time is
/// spent in them otherwise. It is kept in the cache of builds. Throws Broken when it cannot be
/// made.
FirstHeader subject_headers(const Toolchain& tools, const std::filesystem::path& cache);

}  // namespace gauntlet
