// SPDX-License-Identifier: Apache-2.0
#include "harness/run/cell_claims.h"

#include <fmt/format.h>

namespace gauntlet {

void ask_store(const ResultStore& store, PlannedCell& cell) {
  auto stored = load_proven(store, cell.request.key(), cell.why_run);
  if (!stored) return;
  if (auto reason = why_not_reusable(*stored, *cell.wanted))
    cell.why_run = *std::move(reason);
  else
    cell.reused = std::move(stored->observation);
}

CellClaims::CellClaims(const ResultStore& store, std::vector<PlannedCell>& plan,
                       const Progress& progress) {
  std::map<CellKey, PlannedCell*> in_order;
  for (PlannedCell& cell : plan)
    if (!cell.reused) in_order.emplace(cell.request.key(), &cell);
  for (const auto& entry : in_order) {
    const CellKey& key = entry.first;
    PlannedCell* const cell = entry.second;
    FileLock lock(store.lock_file(key), FileLock::Mode::exclusive, [&] {
      progress({CellEvent::Kind::waiting, key,
                fmt::format("another gauntlet is grading it ({} is locked)",
                            store.lock_file(key).string()),
                Verdict::passed});
    });
    if (cell->wanted) ask_store(store, *cell);
    if (!cell->reused) claimed_.emplace(key, Claimed{std::move(lock), cell->why_run});
  }
}

}  // namespace gauntlet
