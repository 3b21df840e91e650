// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/publish/rules.h"

namespace gauntlet {

/// What goes, or went: bytes of a file, or all of a file or folder. Safe to print: names are
/// masked, and of what goes there are only its first characters.
struct Removal {
  std::string file;
  std::size_t line = 0;  // 0: the whole of it
  std::string rule;
  std::uint64_t bytes = 0;
  std::string begins;  // empty for whole files
  std::string put;
};

/// What may not be published either, and what only a person can do about it.
struct LeftOver {
  std::string file;
  std::size_t line = 0;  // 0: all of it
  std::string rule;
  std::uint64_t bytes = 0;
  std::string begins;
  std::string why;
};

struct SanitizeReport {
  std::vector<Removal> removals;  // in the order of files and lines
  std::vector<LeftOver> left;
  std::string diff;            // of what is replaced in files
  std::uint64_t files = 0;     // looked into
  std::uint64_t binaries = 0;  // of these, those that were searched for keys only
};

/// Goes through the owner's folder and says what may not be published; with `write` it is removed,
/// file by file. What cannot be read or written is in `left`. Throws UserError for a folder that
/// cannot be gone through, or may not be.
SanitizeReport sanitize(const Owner& owner, bool write);

}  // namespace gauntlet
