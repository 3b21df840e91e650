#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gauntlet {

/// "warning:" lines in what the compiler said.
int count_warnings(std::string_view output);

/// What the compiler said, for a report: the first error first, then the rest in its order; the
/// scratch folder's name is taken out, so that files have the submission's names; safe to print,
/// cut.
std::string tidy_messages(std::string_view output, std::string_view scratch);

/// The limit that a part of the compiler ran into, from the way g++ words it ("memory", "CPU time",
/// "file size"). g++ calls that an internal error and asks for a bug report.
std::optional<std::string> limit_in(std::string_view output);

}  // namespace gauntlet
