// SPDX-License-Identifier: Apache-2.0
#include "harness/run/cell_claims.h"

#include <algorithm>
#include <fmt/format.h>
#include <sys/resource.h>

namespace gauntlet {
namespace {

/// Lets this process have so many more files open than it may have now, as far as the machine
/// allows. Where that is too few, opening them says so.
void expect_files(std::size_t more) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || more < limit.rlim_cur / 2) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, limit.rlim_cur + more);
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

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
  expect_files(in_order.size());  // each lock is one
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
