// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/core/file_lock.h"
#include "harness/run/grading_run.h"

namespace gauntlet {

/// Takes the stored observation of a cell where it answers for what is wanted, or says why not.
void ask_store(const ResultStore& store, PlannedCell& cell);

/// The locks of the cells of a plan that have to run: what one process is grading, no other grades
/// as well. All are taken in one order, so that no two processes wait for each other.
class CellClaims {
 public:
  /// Waits, and says so, for whoever grades one of the cells, and asks the store again then: what
  /// was graded meanwhile is reused.
  CellClaims(const ResultStore& store, std::vector<PlannedCell>& plan, const Progress& progress);

  const std::string& why_run(const CellKey& key) const { return claimed_.at(key).why_run; }

  /// Once the cell is kept.
  void release(const CellKey& key) { claimed_.erase(key); }

 private:
  struct Claimed {
    FileLock lock;
    std::string why_run;
  };
  std::map<CellKey, Claimed> claimed_;
};

}  // namespace gauntlet
