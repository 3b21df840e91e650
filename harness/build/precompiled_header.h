// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "harness/build/build_library.h"
#include "harness/build/toolchain.h"

namespace gauntlet {

/// The text of what stands before a subject: includes of the system's headers that it includes, and
/// of others that are read with them.
std::string subject_headers(const SolutionSource& subject);

/// The same as the compiler keeps what it has read, once for all subjects: half of a subject's time
/// is spent in them otherwise. It is kept in the cache of builds. Throws Broken when it cannot be
/// made.
FirstHeader first_header(const SolutionSource& subject, const std::filesystem::path& cache);

/// Has all of them ready, so that processes which this one forks find them.
void make_first_headers(const Toolchain& tools, const std::filesystem::path& cache);

}  // namespace gauntlet
