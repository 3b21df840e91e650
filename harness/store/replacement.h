// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "harness/store/ledger.h"
#include "harness/store/result_store.h"

namespace gauntlet {

/// The keeping of a cell's result, which takes several files, and the line that the ledger has for
/// it where there was one before. What is about to happen is written down first, in keeping.json:
/// wherever a process is killed, the next one to hold the cell's lock finds out whether it
/// happened, and the ledger has one line for what did and none for what did not.
class Replacement {
 public:
  /// Makes up for what was interrupted: enters what was kept into the ledger, and removes the
  /// opened receipt of a run that has ended. Quick where there is nothing to do.
  Replacement(const ResultStore& store, CellKey key);

  /// What an interrupted run was about to write, where it has replaced some of the files of the
  /// last result that was kept whole. Absent when no run was interrupted so late.
  const std::optional<LedgerEntry>& interrupted() const { return interrupted_; }

  /// Writes down that the result whose observation.json has this SHA-256 takes the place of one
  /// with the grade `entry.before`, of none where that is empty.
  void begin(const std::string& observation, const LedgerEntry& entry) const;

  /// Once all files are written.
  void end() const;

 private:
  void settle();
  void enter(const LedgerEntry& entry) const;

  const ResultStore& store_;
  CellKey key_;
  std::optional<LedgerEntry> interrupted_;
};

}  // namespace gauntlet
