// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/build/compiler_messages.h"
#include "harness/build/solution.h"

namespace gauntlet {

/// How a source can keep the compiler from warning about it, and how that is seen. There are four
/// ways: `#pragma GCC diagnostic`; `#pragma GCC system_header`; `#line` or a line marker, which
/// give the text that follows another file's name or call it a system header's; and a header that
/// one of the system's includes, by a name that it asks for. A search in the text would miss what
/// macros put together, so the compiler tells: it reads the sources once more (SilencerSearch),
/// with the words of these pragmas poisoned, and complains wherever one comes out.

/// What is included before each source for that.
inline constexpr std::string_view kPoison = "#pragma GCC poison GCC diagnostic system_header\n";

/// What a silencer is told as; one that is a line directive.
Diagnostic silencer(const std::string& file, int line, int column, const std::string& what);
inline constexpr const char* kTakenForTheSystems =
    "text that the compiler takes for a system header's";
Diagnostic renamed_line(const std::string& file, int line, int column);

/// The files with one letter changed in everything that may be a line directive: what is one, the
/// preprocessor then refuses. Those which a comment makes part of are told in `found` by the text.
std::vector<SolutionSource::File> with_misspelt_lines(
    const std::vector<SolutionSource::File>& files, std::vector<Diagnostic>& found);

/// Adds, as warnings, what the compiler met in these files.
void add_silencers(const CompilerOutput& searched, const std::vector<SolutionSource::File>& files,
                   std::vector<Diagnostic>& found);

/// The same for files that a compilation read (-H): what a system header includes is taken for the
/// system's, whosever it is. And no file of a submission's is found by a path through /proc.
void add_taken_for_the_systems(const std::vector<Included>& included,
                               std::vector<Diagnostic>& found);

}  // namespace gauntlet
