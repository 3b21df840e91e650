// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace gauntlet {

/// One published grade that was replaced by another, and what was different.
struct LedgerEntry {
  std::string when;  // the later result was started, UTC; of a changed rubric, that it was applied
  std::string submission;
  std::string challenge;
  std::string before;  // "C+ 79", "broken"
  std::string after;
  std::vector<std::string> because;  // what differs: "the solution", "the grader", "the rubric"
};

/// Reads <folder>/ledger.jsonl, one entry a line, oldest first; nothing when it is not there.
/// Throws UserError (file, line) for a line that cannot be read.
std::vector<LedgerEntry> load_ledger(const std::filesystem::path& file);

/// Entries are only ever added. One is ["when", "submission", "challenge", "before", "after",
/// ["because"]]; lines that earlier versions wrote as objects are written anew in that way.
void append_to_ledger(const std::filesystem::path& file, const std::vector<LedgerEntry>& entries);

}  // namespace gauntlet
