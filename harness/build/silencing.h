#pragma once

#include <string>
#include <vector>

#include "harness/build/compiler_messages.h"
#include "harness/build/solution.h"

namespace gauntlet {

/// How a source can keep the compiler from warning about it, and how that is seen. There are four
/// ways: `#pragma GCC diagnostic`; `#pragma GCC system_header`; `#line` or a line marker, which
/// give the text that follows another file's name or call it a system header's; and a header that
/// one of the system's includes instead of its own, by the same name. A search in the text would
/// miss what macros put together, so the preprocessor tells: it works once more on the sources,
/// with the words of these pragmas poisoned, and complains wherever one comes out.

/// What is included before each source for that.
inline constexpr std::string_view kPoison = "#pragma GCC poison GCC diagnostic system_header\n";

/// The files with one letter changed in everything that may be a line directive: what is one, the
/// preprocessor then refuses. Those which a comment makes part of are told in `found` by the text.
std::vector<SolutionSource::File> with_misspelt_lines(
    const std::vector<SolutionSource::File>& files, std::vector<Diagnostic>& found);

/// Adds, as warnings, what the preprocessor met in these files.
void add_silencers(const CompilerOutput& preprocessor,
                   const std::vector<SolutionSource::File>& files, std::vector<Diagnostic>& found);

/// The same for what the preprocessor made: it marks what the compiler will take for the system's.
void add_taken_for_the_systems(std::string_view preprocessed, std::vector<Diagnostic>& found);

}  // namespace gauntlet
