// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

namespace gauntlet {

/// Adds whole lines, which end in a newline, to a file that several processes may add to at once.
/// All of them are there afterwards, on disk, or none where there is no room: what a crash left of
/// a line is cut off first. Makes a missing file and its folder. Throws UserError.
void append_lines(const std::filesystem::path& file, std::string_view lines);

}  // namespace gauntlet
