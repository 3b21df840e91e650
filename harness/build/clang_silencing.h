// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "harness/build/compiler_messages.h"

namespace gauntlet {

// What silencing.h finds of g++'s, of clang's. That search asks the compiler for the names of
// poisoned words, which clang does not tell. Clang's preprocessor prints the pragmas that it met
// instead, whatever macros made them, and the same command prints the same. What a header of the
// system's makes of a submission's macro (header_macros.h) is not searched for: it takes the names
// as well.

/// The line directives among what clang said about files with misspelt lines (silencing.h).
std::vector<Diagnostic> line_directives(const CompilerOutput& searched);

/// The pragmas of a submission's files that silence clang, in what `clang++ -E` printed.
std::vector<Diagnostic> silencing_pragmas(std::string_view preprocessed);

}  // namespace gauntlet
