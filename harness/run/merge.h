// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/run/shard.h"
#include "harness/score/rubric.h"
#include "harness/store/result_store.h"

namespace gauntlet {

/// What joining results would write. Everything is sorted, so that nothing tells in which order the
/// folders were named.
struct MergePlan {
  struct Cell {
    CellKey key;
    std::filesystem::path from;             // folder of results
    std::optional<CellObservation> before;  // a grade of an earlier run that has to go
  };
  struct Generation {
    CellKey key;  // submission and attempt
    std::optional<std::string> graded_from;
    std::optional<ModelCard> card;
  };
  std::vector<Cell> cells;
  std::size_t same = 0;  // further cells, which lie there already, byte for byte
  std::vector<Generation> generations;
  std::vector<ShardRecord> shards;   // that lie there in the end
  std::vector<std::string> missing;  // a sentence for each thing that keeps the whole from being
                                     // what was planned
};

/// Looks whether the results in `folders` and those in `into` fit together. Throws UserError where
/// a receipt does not vouch for a cell, where two folders have different grades of one or grades of
/// submissions that lay in different places, where they are shards of different plans, and where
/// `into` has the grade of a later run. A cell that broke through a fault of ours is taken over
/// where there is nothing better, and is missing all the same, as is one whose run was begun and
/// did not end.
MergePlan plan_merge(const std::vector<ResultStore>& folders, const ResultStore& into);

/// Copies the cells into `into`, byte for byte, with scores by `rubric`, model cards and records of
/// shards. The same folders give the same files, in whatever order they were named.
void carry_out(const MergePlan& plan, const ResultStore& into, const Rubric& rubric);

}  // namespace gauntlet
