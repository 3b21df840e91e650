// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/build/compiler_messages.h"

namespace gauntlet {

/// How clang is asked to print what read_clang_output() takes apart: one line for each message, and
/// every file that it reads.
std::vector<std::string> clang_telling_flags();

/// Takes apart what clang++ with these flags printed. A source can put lines of this form into the
/// text of a message: that adds warnings of its own and takes none away, as each message begins a
/// line.
CompilerOutput read_clang_output(std::string_view output);

/// Both halves of a CUDA source are compiled from one text, and say most things twice: adds what is
/// new.
void add_new(const std::vector<Diagnostic>& more, std::vector<Diagnostic>& all);

}  // namespace gauntlet
