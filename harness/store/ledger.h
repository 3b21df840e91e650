// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace gauntlet {

/// One grade that was replaced by another, and what was different. A folder of results has a ledger
/// of all that it held (ResultStore::ledger_file), a report one of what it published.
struct LedgerEntry {
  std::string when;  // the later result was started, UTC; of a changed rubric, that it was applied
  std::string submission;
  std::string challenge;
  std::string before;  // "C+ 79", "broken"
  std::string after;
  std::vector<std::string> because;  // what differs: "the solution", "the grader", "the rubric"

  bool operator==(const LedgerEntry&) const = default;
};

/// Reads a ledger, one entry a line, oldest first; nothing when the file is not there. What follows
/// the last newline is the rest of a line that a crash or a full disk cut, and is left out. Throws
/// UserError (file, line) for a line that cannot be read.
std::vector<LedgerEntry> load_ledger(const std::filesystem::path& file);

/// Entries are only ever added, each as a whole line or not at all, by several processes at once if
/// need be. Lines that earlier versions wrote as objects are written anew in the present form.
/// Throws UserError where there is no room.
void append_to_ledger(const std::filesystem::path& file, const std::vector<LedgerEntry>& entries);

/// An entry as a line with its newline, ["when", "submission", "challenge", "before", "after",
/// ["because"]], without the last where it is another grader alone, and back. Throws UserError
/// naming `where` for what is no entry.
std::string ledger_line(const LedgerEntry& entry);
LedgerEntry ledger_entry(const std::string& line, const std::string& where);

}  // namespace gauntlet
