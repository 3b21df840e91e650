// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace gauntlet {

/// "90m", "12h", "30d". Throws UserError naming the option for anything else.
std::chrono::seconds parse_age(const std::string& option, const std::string& word);

/// "500M" or "2G", of 2^20 and 2^30 bytes; "K" of 2^10. Throws UserError naming the option for anything else.
std::uint64_t parse_size(const std::string& option, const std::string& word);

/// "61.2 MiB", "512 bytes".
std::string size_text(std::uint64_t bytes);

}  // namespace gauntlet
