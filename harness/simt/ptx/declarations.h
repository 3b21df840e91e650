// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "harness/simt/ptx/lexer.h"
#include "harness/simt/ptx/module.h"

namespace gauntlet::simt::ptx {

// What the parsers of modules and of bodies share.

/// Takes the mark if it is next.
bool take_mark(Lexer& lexer, std::string_view mark);

/// Takes the mark, or fails.
void need_mark(Lexer& lexer, std::string_view mark);

/// The space that ".global" and the like name.
std::optional<Space> space_named(std::string_view directive);

/// A variable from its .align or type on, up to what follows its value. Adds its size to `total`,
/// and fails when that exceeds kMostVariableBytes.
Variable parse_variable(Lexer& lexer, Space space, std::uint64_t& total);

/// What follows .loc; gives file and line. Where a function was inlined it is the innermost place.
Place skip_location(Lexer& lexer);

}  // namespace gauntlet::simt::ptx
