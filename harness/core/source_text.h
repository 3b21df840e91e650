// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace gauntlet {

/// What a compiler makes something of in C++ text: comments are gone, and so is white space that
/// separates nothing. Two texts that differ in their comments and their formatting only give the
/// same; lines of the preprocessor stay lines.
std::string significant_text(std::string_view source);

}  // namespace gauntlet
